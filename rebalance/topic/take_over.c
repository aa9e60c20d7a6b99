#include "config.h"

#include "rebalance/topic/take_over.h"

#include "rebalance/dead_letter/letters.h"
#include "rebalance/dead_letter/purged.h"
#include "rebalance/version/settings.h"
#include "rebalance/version/version_drop.h"

bool coordinator_take_over(struct coordinator *co, struct str topic, struct err *err)
{
    coordinator_end_promoted(co, topic);
    coordinator_settings_due(co);
    return coordinator_note_letters(co, topic, err) && coordinator_load_purged(co, topic, err);
}
