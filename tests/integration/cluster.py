"""A cluster of several search nodes on this machine, each of which may be killed and come back."""
import os
import signal
import threading

import servers
from servers import Engine, Failed, wait_until


class Node(Engine):
    """One node; its name is that of its folder."""

    def __init__(self, name, cluster):
        super().__init__(name)
        self.name, self.cluster, self.heap, self.hangs = name, cluster, "256m", False

    def start(self, *settings):
        nodes = self.cluster.nodes
        super().start("discovery.type=zen", f"node.name={self.name}", "cluster.name=millrace-nodes",
                      "discovery.seed_hosts=" + ",".join(f"127.0.0.1:{node.transport}" for node in nodes),
                      "cluster.initial_cluster_manager_nodes=" + ",".join(node.name for node in nodes),
                      # One that does not answer is left out after a moment.
                      "cluster.fault_detection.follower_check.interval=500ms",
                      "cluster.fault_detection.follower_check.timeout=2s",
                      "cluster.fault_detection.leader_check.interval=500ms",
                      "cluster.fault_detection.leader_check.timeout=2s", *settings)

    def hang(self):
        """It is there and does nothing, not even close its connections."""
        self.signal(signal.SIGSTOP)
        self.hangs = True

    def go_on(self):
        self.signal(signal.SIGCONT)
        self.hangs = False

    def is_up(self):
        try:
            return not self.hangs and servers.running(self.pid())
        except OSError:
            return False

    def connections(self):
        """How many clients keep one to it; asked of another node, which makes none."""
        answer = self.cluster.other(self).ask("GET", f"/_nodes/{self.name}/stats/http")
        return sum(int(node["http"]["current_open"]) for node in answer["nodes"].values())


class Cluster(Engine):
    """Asked as one engine, by a node that is up."""

    def __init__(self, size=3):
        self.nodes = []
        self.nodes += [Node(f"node-{i + 1}", self) for i in range(size)]

    @property
    def url(self):
        return self.up()[0].url

    @property
    def urls(self):
        return [node.url for node in self.nodes]

    def up(self):
        return [node for node in self.nodes if node.is_up()]

    def other(self, node):
        return next(other for other in self.up() if other is not node)

    def start(self, *settings):
        """All of its nodes; none of them answers before most of them are there."""
        failures = []

        def start_one(node):
            try:
                node.start(*settings)
            except Failed as e:
                failures.append(e)

        threads = [threading.Thread(target=start_one, args=(node,)) for node in self.nodes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        self.wait_for("green")

    def stop(self):
        for node in self.nodes:
            node.stop()

    def wipe(self):
        for node in self.nodes:
            node.wipe()

    def signal(self, number):
        for node in self.nodes:
            node.signal(number)

    def wait_for(self, status, seconds=180):
        """Those nodes that are up have found each other, and the shards are as good as that or better."""
        def is_so():
            health = self.ask("GET", "/_cluster/health", ok=None)
            return health.get("status") in ("green", status) and health["number_of_nodes"] == len(self.up())

        wait_until(lambda: f"the cluster is {status}: {self.ask('GET', '/_cluster/health', ok=None)}", is_so, seconds, 0.2)

    def manager(self):
        name = self.ask("GET", "/_cat/cluster_manager?format=json")[0]["node"]
        return next(node for node in self.nodes if node.name == name)

    def primaries(self, index):
        """{shard: the node that has its primary}"""
        rows = self.ask("GET", f"/_cat/shards/{index}?format=json")
        names = {node.name: node for node in self.nodes}
        return {int(row["shard"]): names.get(row["node"]) for row in rows if row["prirep"] == "p"}
