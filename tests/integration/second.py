"""A second Millrace: this checkout's, copied, changed into one of the future, and built.

Nothing in the shipped program knows of it.  What it has more:

    a migration        the next one, census: a table, and a column of index_version.  SHARED says that older programs
                       go on beside it, ALONE that they must not
    node data          the member `census`, with how many kinds of jobs the node knows
    a kind of job      `census`: each build of a version stores one; whoever takes the version's topic counts
                       one more row in it, and notes the event `counted` in the sync log
"""
import fcntl
import os
import re
import shutil
import subprocess

from servers import REPO, Failed

FOLDER = os.path.join(REPO, "build-tests", "second")  # one for all lanes
BUILT = os.path.join("build-tests", "plain")
VERSION = "9.9.9-second"
NUMBER = 1 + max(int(name[:4]) for name in os.listdir(os.path.join(REPO, "sql")) if re.match(r"\d{4}_", name))  # of its migration
SHARED = "-- shared: older programs neither read the table nor need the column\n"
ALONE = "-- alone: older programs would not count\n"
MIGRATION = """
CREATE TABLE IF NOT EXISTS census (
    index_name {key} NOT NULL PRIMARY KEY,
    n {number} NOT NULL
) {keyed};

ALTER TABLE index_version ADD COLUMN counted {number};
"""

CHANGES = {
    "rebalance/cluster/node_data.h": [
        ("    bool is_evacuated;\n", "    bool is_evacuated;\n    uint64_t census;\n")],
    "rebalance/cluster/node_data.c": [
        ("static const struct shared_member members[] = {\n",
         "static void read_census(struct json_reader *r, void *d)\n{\n"
         "    shared_text_read_number(r, &((struct node_data *)d)->census);\n}\n\n"
         "static const struct shared_member members[] = {\n    {STR(\"census\"), read_census},\n"),
        ("    shared_text_write_unknown(&w, &d->unknown);\n",
         "    if (d->census > 0)\n        json_put_u64(&w, STR(\"census\"), d->census);\n    shared_text_write_unknown(&w, &d->unknown);\n"),
        ("    to->is_evacuated = from->is_evacuated;\n", "    to->is_evacuated = from->is_evacuated;\n    to->census = from->census;\n"),
        ("a->is_evacuated == b->is_evacuated &&", "a->is_evacuated == b->is_evacuated && a->census == b->census &&")],
    "rebalance/cluster/barrier.c": [
        ("    d->status = NODE_CLEAN_OK;\n    node_data_format(&text, d);\n", "    d->status = NODE_CLEAN_OK;\n    d->census = 5;\n    node_data_format(&text, d);\n")],
    "rebalance/version/version_create.c": [
        ("    const bool ok = store_new_job(co->opt.store, &job, err);\n\n    *id = job.id;\n",
         "    bool ok = store_new_job(co->opt.store, &job, err);\n\n    *id = job.id;\n"
         "    job.kind = STR(\"census\");\n    ok = ok && store_new_job(co->opt.store, &job, err);\n")],
    "rebalance/verify/order.c": [
        ("static bool resume(struct coordinator *co, struct err *err)\n",
         "static bool count(struct coordinator *co, struct stored_job *job, struct err *err)\n{\n"
         "    const struct stored_log l = {.at_ms = clock_wall_ms(), .table = job->table, .index = job->index,\n"
         "        .event = STR(\"counted\"), .detail = STR(\"{}\"), .version = job->version};\n"
         "    struct buf thing = {0};\n    uint64_t term;\n\n"
         "    buf_printf(&thing, \"job/%\" PRIu64, job->id);\n    job->rows_done++;\n"
         "    const bool ok = store_take_term(co->opt.store, buf_str(&thing), &term, err) &&\n"
         "                    store_save_job(co->opt.store, term, job, err) && store_add_log(co->opt.store, &l, err);\n"
         "    buf_free(&thing);\n    return ok;\n}\n\n"
         "static bool resume(struct coordinator *co, struct err *err)\n"),
        ("        if (!ok)\n            __atomic_store_n(&co->verifies_run, false",
         "        for (size_t i = 0; i < n; i++)\n            if (str_equal(jobs[i].kind, STR(\"census\")) &&\n"
         "                coordinator_owns_version(co, jobs[i].index, jobs[i].version))\n                ok = count(co, &jobs[i], err) && ok;\n"
         "        if (!ok)\n            __atomic_store_n(&co->verifies_run, false")],
}


def copy():
    """The sources and what was built of them, with their times, so that make builds only what changes."""
    if not os.path.exists(os.path.join(REPO, BUILT, "millrace")):
        raise Failed(f"the second program is built from {BUILT}, which is not there; fix: ./runtests builds it")
    shutil.rmtree(FOLDER, ignore_errors=True)
    apart = {REPO: {".git", "build-tests"}, os.path.join(REPO, "tests"): {"run"}}
    shutil.copytree(REPO, FOLDER, symlinks=True, ignore=lambda folder, _: apart.get(folder, ()))
    shutil.copytree(os.path.join(REPO, BUILT), os.path.join(FOLDER, BUILT), symlinks=True)


def write(name, text):
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as f:
        f.write(text)


def read(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as f:
        return f.read()


def change():
    for name, changes in CHANGES.items():
        text = read(name)
        for old, new in changes:
            if text.count(old) != 1:
                raise Failed(f"{name} has {text.count(old)} times, and not once: {old}")
            text = text.replace(old, new)
        write(name, text)
    for folder in "src", "rebalance", "sync", "web":
        for at, _, files in os.walk(os.path.join(FOLDER, folder)):
            for name in (os.path.relpath(os.path.join(at, file), FOLDER) for file in files if file.endswith(".c")):
                if "PACKAGE_VERSION" in (text := read(name)):
                    write(name, text.replace("PACKAGE_VERSION", f'"{VERSION}"'))


def make(first_line):
    write(f"sql/{NUMBER:04}_census.sql", first_line + MIGRATION)
    files = " ".join(sorted(f"sql/{name}" for name in os.listdir(os.path.join(FOLDER, "sql")) if re.match(r"\d{4}_", name)))
    done = subprocess.run(["make", "-s", "-j2", "-C", os.path.join(FOLDER, BUILT), "millrace", f"migration_files={files}", "CFLAGS=-O1 -Wno-error"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Failed(f"the second program cannot be built:\n{done.stdout[-3000:]}")
    return os.path.join(FOLDER, BUILT, "millrace")


def build():
    """(the program whose migration is shared, the one whose migration is alone), built when the first test needs them."""
    programs = tuple(os.path.join(FOLDER, name) for name in ("millrace-shared", "millrace-alone"))
    of = os.path.join(FOLDER, "of")
    mark = repr(os.stat(os.path.join(REPO, BUILT, "millrace")).st_mtime_ns)
    with open(FOLDER + ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(of) or read("of") != mark + read_self():
            copy()
            change()
            for program, first_line in zip(programs, (SHARED, ALONE)):
                os.replace(make(first_line), program)
            write("of", mark + read_self())
    return programs


def read_self():
    with open(os.path.abspath(__file__), encoding="utf-8") as f:
        return f.read()
