"""The Chinook database: a shop for music, in eleven tables, whose rows nobody here wrote.

They come from a package of Maven Central, pinned by its checksum, under the Apache licence 2.0: a script
of another database, of which this makes one for MySQL and MariaDB.
"""
import fcntl
import hashlib
import os
import re
import subprocess
import zipfile

from servers import REPO, Failed

PACKAGE = "net.hydromatic:chinook-data-hsqldb:0.2"
SHA256 = "29805e76a53994841aff76d1b1d5656f0d8c4bf2f092cf63c0dd5521329e7212"
CACHE = os.path.join(REPO, "tools", "cache")
JAR = os.path.join(CACHE, "chinook", "chinook-data-hsqldb-0.2.jar")


def fetch():
    os.makedirs(os.path.dirname(JAR), exist_ok=True)
    if os.path.exists(JAR):
        return
    repository = os.environ.get("MAVEN_REPO_LOCAL", os.path.join(CACHE, "maven"))
    done = subprocess.run(["mvn", "-q", "-B", "--strict-checksums", f"-Dmaven.repo.local={repository}",
                           "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy", f"-Dartifact={PACKAGE}",
                           f"-DoutputDirectory={os.path.dirname(JAR)}"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"maven could not fetch {PACKAGE}:\n{done.stdout[-2000:]}")


def script():
    """The package's script; lanes fetch it one at a time."""
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "chinook.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        fetch()
    with open(JAR, "rb") as file:
        if hashlib.sha256(file.read()).hexdigest() != SHA256:
            raise Failed(f"{JAR} is not what it was")
    with zipfile.ZipFile(JAR) as jar:
        return jar.read("chinook.script").decode("ascii")


def sql():
    """The statements for MySQL; foreign keys stay."""
    lines = [line.replace('"chinook".', "") for line in script().splitlines()
             if line.startswith(('CREATE MEMORY TABLE "chinook"', 'ALTER TABLE "chinook"', 'INSERT INTO "chinook"'))]
    lines = [re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), line).replace("CREATE MEMORY", "CREATE")
             for line in lines]
    session = "SET NAMES utf8mb4; SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES', foreign_key_checks = 0;\n"
    return session + "BEGIN;\n" + ";\n".join(lines) + ";\nCOMMIT;\n"
