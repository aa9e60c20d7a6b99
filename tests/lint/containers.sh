#!/bin/sh
# The container files are good YAML that Compose and the types of Kubernetes take, use settings that
# the program has, and agree with one another: user, volume, ports, probes.
# tests/integration/container.sh builds the image and asks the daemon in it.
set -eu
: "${top_srcdir:=.}" "${top_builddir:=.}"
python=/usr/bin/python3 # the one that has Debian's modules
[ -x "$python" ] || python=python3
if ! command -v yamllint > /dev/null || ! command -v docker-compose > /dev/null ||
    ! "$python" -c 'import kubernetes, yaml' 2> /dev/null; then
    echo "yamllint, docker-compose, python3-kubernetes or python3-yaml is not installed"
    exit 77
fi
yamllint --strict -d '{extends: default, rules: {document-start: disable, line-length: {max: 96}}}' \
    "$top_srcdir"/packaging/container/*.yaml
export top_srcdir top_builddir
exec "$python" - <<'END'
import os, re, subprocess, sys, tempfile
import kubernetes.client
import yaml

source = os.environ["top_srcdir"]
program = os.path.abspath(os.path.join(os.environ["top_builddir"], "millrace"))
bad = 0


def expect(what, found, wanted):
    global bad
    if found != wanted:
        print(f"{what}: {found!r}, expected {wanted!r}")
        bad = 1


def read(*path):
    with open(os.path.join(source, *path)) as f:
        return f.read()


def settings_are_known(what, environment):
    environment = {name: str(value) for name, value in environment.items()}
    with tempfile.NamedTemporaryFile(suffix=".yaml") as empty:
        done = subprocess.run([program, "config", "show", "--config", empty.name], capture_output=True, text=True,
                              check=False, env={"PATH": os.environ["PATH"]} | environment)
    expect(f"settings of {what}", (done.returncode, done.stderr), (0, ""))


def compose_config(**environment):
    """What Compose says of compose.yaml; Debian's, which asks no daemon, does not know the project's name there."""
    text = re.sub(r"(?m)^name: \w+\n", "", read("packaging", "container", "compose.yaml"))
    folder = os.path.join(source, "packaging", "container")
    return subprocess.run(["docker-compose", "--project-directory", folder, "-f", "-", "config", "-q"], input=text,
                          capture_output=True, text=True, check=False, env={"PATH": os.environ["PATH"]} | environment)


SCALARS = {"str": str, "int": int, "bool": bool, "object": object}


def is_of_kind(where, value, kind):
    """Kubernetes takes the value: its client has the type of each member of each object."""
    inner = re.fullmatch(r"(?:list\[|dict\(str, )(.*)[])]", kind)
    wanted = SCALARS.get(kind, list if kind.startswith("list[") else dict)
    expect(f"{where} is of the kind {kind}", isinstance(value, wanted), True)
    if not isinstance(value, wanted):
        return
    if inner:
        for name, one in enumerate(value) if wanted is list else value.items():
            is_of_kind(f"{where}[{name}]", one, inner[1])
    elif kind not in SCALARS:
        model = getattr(kubernetes.client, kind)
        names = {name: member for member, name in model.attribute_map.items()}
        expect(f"unknown members of {where}", sorted(set(value) - set(names)), [])
        for name in names.keys() & value.keys():
            is_of_kind(f"{where}.{name}", value[name], model.openapi_types[names[name]])
        try:  # refuses an object without a member that it needs
            model(**{names[name]: value[name] for name in names.keys() & value.keys()})
        except ValueError as e:
            expect(f"what {where} lacks", str(e), "")


def is_of_kubernetes(thing):
    group, version = ("core/" + thing["apiVersion"]).split("/")[-2:]
    words = re.sub(r"(?<!^)(?=[A-Z])", "_", thing["kind"]).lower()
    api = getattr(kubernetes.client, f"{group.title()}{version.title()}Api", None)
    expect(f"{thing['apiVersion']} has {thing['kind']}", hasattr(api, f"create_namespaced_{words}"), True)
    is_of_kind(thing["kind"], thing, version.title() + thing["kind"])


# ---- the image

recipe = read("packaging", "container", "Dockerfile").replace("\\\n", " ")
last = [line.split(maxsplit=1) for line in recipe.split("\nFROM ")[-1].splitlines()[1:] if line and line[0] != "#"]
image = {name: text for name, text in last if name != "RUN"}
environment = dict(pair.split("=", 1) for pair in image["ENV"].split())
user, volume = int(image["USER"]), image["VOLUME"]
port, words_port = map(int, image["EXPOSE"].split())
expect("the user has the id", f"--uid {user} --gid {user} " in recipe, True)
expect("the data lies in the volume", environment["MILLRACE_DATA"].startswith(volume + "/"), True)
expect("the port of metrics", environment["MILLRACE_METRICS__LISTEN"], f"0.0.0.0:{port}")
settings_are_known("the image", environment)
expect("the port of words in docs/configuration.md", f"0.0.0.0:{words_port};" in read("docs", "configuration.md"), True)
nightly = re.findall(r'"((?:\w+ )+--[^"]*)"', read("packaging", "container", "nightly"))
for timer in sorted(name for name in os.listdir(os.path.join(source, "packaging", "systemd")) if name.endswith(".timer")):
    unit = read("packaging", "systemd", timer.replace(".timer", ".service.in"))
    command = re.search(r"^ExecStart=\S+/millrace (.*) --config", unit, re.M)[1]
    expect(f"nightly runs what {timer} does, {command}", command in nightly, True)
lists = re.findall(r"s/\^(\w+): //p", recipe)
for name in lists:
    expect(f"tools/packages has {name}", bool(re.search(f"^{name}: ", read("tools", "packages"), re.M)), True)

# ---- compose

passwords = {"ROOT_PASSWORD": "a", "DATABASE_PASSWORD": "b"}
found = compose_config(**passwords)
expect("what Compose says", (found.returncode, found.stdout + found.stderr), (0, ""))
for name in passwords:
    found = compose_config(**{other: value for other, value in passwords.items() if other != name})
    expect(f"Compose starts without {name}", (found.returncode != 0, name in found.stderr), (True, True))
compose = yaml.safe_load(read("packaging", "container", "compose.yaml"))
for name, service in compose["services"].items():
    for where in service.get("volumes", []):
        outside = where.split(":")[0]
        there = os.path.exists(os.path.join(source, "packaging", "container", outside))
        expect(f"{name} has {outside}", there if outside.startswith(".") else outside in compose["volumes"], True)
    for address in service.get("ports", []):
        expect(f"{name} is published on", address.split(":")[0], "127.0.0.1")
database, millrace = compose["services"]["database"], compose["services"]["millrace"]
for option in ("format=ROW", "row-image=FULL", "row-metadata=FULL"):
    expect(f"the database has {option}", f"--binlog-{option}" in database["command"], True)
granted = set(re.findall(r"(?:TO|FROM) (\w+)@", read("packaging", "container", "database.sql")))
expect("rights are given to", granted, {database["environment"]["MARIADB_USER"]})
expect("the volume of millrace", [where.split(":")[1] for where in millrace["volumes"]], [volume])
night = compose["services"]["nightly"]
expect("the volume of nightly", night["volumes"], millrace["volumes"])
expect("nightly is of the same image", night["image"], millrace["image"])
expect("the port of millrace", [int(address.split(":")[2]) for address in millrace["ports"]], [port])
settings_are_known("compose.yaml", millrace["environment"])

# ---- Kubernetes

for thing in yaml.safe_load_all(read("packaging", "container", "kubernetes.yaml")):
    is_of_kubernetes(thing)
service, state = yaml.safe_load_all(read("packaging", "container", "kubernetes.yaml"))
pod = state["spec"]["template"]["spec"]
container, night = pod["containers"]
expect("nightly has the same image, volume and rights", [night[name] for name in ("image", "volumeMounts", "securityContext")],
       [container[name] for name in ("image", "volumeMounts", "securityContext")])
expect("both run nightly", [night["command"], compose["services"]["nightly"]["entrypoint"]], [["nightly"]] * 2)
labels = state["spec"]["template"]["metadata"]["labels"]
expect("what the set selects", state["spec"]["selector"]["matchLabels"], labels)
expect("what the service selects", service["spec"]["selector"], labels)
expect("the service of the set", state["spec"]["serviceName"], service["metadata"]["name"])
expect("the user of the pod", [pod["securityContext"][name] for name in ("runAsUser", "runAsGroup", "fsGroup")], [user] * 3)
expect("the ports", [container["ports"][0]["containerPort"], service["spec"]["ports"][0]["port"]], [port] * 2)
expect("the volume", container["volumeMounts"],
       [{"name": state["spec"]["volumeClaimTemplates"][0]["metadata"]["name"], "mountPath": volume}])
settings_are_known("kubernetes.yaml", {e["name"]: e["value"] for e in container["env"] if "value" in e})
for probe, path in (("livenessProbe", "/livez"), ("startupProbe", "/livez"), ("readinessProbe", "/readyz")):
    asked = container[probe]["httpGet"]
    expect(probe, asked, {"path": path, "port": container["ports"][0]["name"]})
    expect(f"web/routes.c has {path}", f'"{path}"' in read("web", "routes.c"), True)
sys.exit(bad)
END
