"""The kill campaign over named failpoints, in parts that can run side by side."""
from campaign import Campaign
from servers import Failed

PART = 400  # kills at most, of which each point has some; tables grow with each


def more_tests(options):
    """A test for each part, whose numbers of kills differ by one at most."""
    count = options.failpoints or 300
    parts = -(-count // PART)
    ends = [count * i // parts for i in range(parts + 1)]
    return {f"test_kills_{since + 1}_to_{end}_at_failpoints_lose_nothing_and_leave_nothing": make_test(end - since)
            for since, end in zip(ends, ends[1:])}


def make_test(kills):
    def test(w):
        campaign = Campaign(w, kills)
        campaign.run(judge_every=20)
        never = campaign.report()
        if never and kills >= campaign.cards():
            raise Failed(f"no daemon ever came to {', '.join(never)}")
    return test
