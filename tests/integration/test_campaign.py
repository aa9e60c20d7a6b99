"""The kill campaign over named failpoints."""
from campaign import Campaign
from servers import Failed

LONG = 1000  # kills, of which each point has some


def test_a_kill_at_any_failpoint_loses_nothing_and_leaves_nothing(w):
    campaign = Campaign(w, w.options.failpoints)
    campaign.run(judge_every=20)
    never = campaign.report()
    if never and w.options.failpoints >= LONG:
        raise Failed(f"no daemon ever came to {', '.join(never)}")
