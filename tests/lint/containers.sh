#!/bin/sh
# The container files are good YAML, use settings that the program has, and agree with one another:
# user, volume, ports, probes.  tests/integration/container.sh builds the image and asks the daemon in it.
set -eu
: "${top_srcdir:=.}" "${top_builddir:=.}"
if ! command -v yamllint > /dev/null || ! python3 -c 'import yaml' 2> /dev/null; then
    echo "yamllint or python3-yaml is not installed"
    exit 77
fi
yamllint --strict -d '{extends: default, rules: {document-start: disable, line-length: {max: 96}}}' \
    "$top_srcdir"/packaging/container/*.yaml
export top_srcdir top_builddir
exec python3 - <<'END'
import os, re, subprocess, sys, tempfile
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


# ---- the image

recipe = read("packaging", "container", "Dockerfile").replace("\\\n", " ")
last = [line.split(maxsplit=1) for line in recipe.split("\nFROM ")[-1].splitlines()[1:] if line and line[0] != "#"]
image = {name: text for name, text in last if name != "RUN"}
environment = dict(pair.split("=", 1) for pair in image["ENV"].split())
user, volume, port = int(image["USER"]), image["VOLUME"], int(image["EXPOSE"])
expect("the user has the id", f"--uid {user} --gid {user} " in recipe, True)
expect("the data lies in the volume", environment["MILLRACE_DATA"].startswith(volume + "/"), True)
expect("the port of metrics", environment["MILLRACE_METRICS__LISTEN"], f"0.0.0.0:{port}")
settings_are_known("the image", environment)
lists = re.findall(r"s/\^(\w+): //p", recipe)
for name in lists:
    expect(f"tools/packages has {name}", bool(re.search(f"^{name}: ", read("tools", "packages"), re.M)), True)

# ---- compose

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
expect("the port of millrace", [int(address.split(":")[2]) for address in millrace["ports"]], [port])
settings_are_known("compose.yaml", millrace["environment"])

# ---- Kubernetes

service, state = yaml.safe_load_all(read("packaging", "container", "kubernetes.yaml"))
pod = state["spec"]["template"]["spec"]
container, = pod["containers"]
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
