"""Random work, and the judge: the seed is printed by the runner, --seed N repeats it."""
from workload import Workload


def test_random_work_ends_equal(w):
    daemon, work, connection = w.work_on_shop()
    for _ in range(6):
        work.run(connection, 250)
        w.equal(daemon)


def test_random_work_during_restarts_ends_equal(w):
    daemon, work, connection = w.work_on_shop()
    for _ in range(6):
        work.run(connection, 100)
        if daemon.stop() != 0:
            raise AssertionError("SIGTERM did not end it well")
        work.run(connection, 50)
        daemon.start()
        work.run(connection, 50)
    w.equal(daemon)


def test_work_done_while_the_daemon_was_away_is_caught_up(w):
    w.load_shop()
    daemon = w.follow(w.shop_definitions())
    daemon.stop()
    work, connection = Workload(w.rng), w.db.connect(w.schema)
    work.run(connection, 400)
    w.sql("FLUSH BINARY LOGS")
    work.run(connection, 100)
    daemon.start()
    w.equal(daemon)
