/* Whether a job is let in where several plugins are asked. */
#include "kube.h"

/* Of the plugins of a tier. */
static enum kube_vote vote_of_tier(json_t *tier, kube_voter vote, void *of)
{
    enum kube_vote votes = KUBE_HAS_NO_SAY;
    size_t i;
    json_t *plugin;
    json_array_foreach (tier, i, plugin) {
        bool asked =
            json_is_true(json_object_get(json_object_get(plugin, "enabled"), "jobEnqueued"));
        enum kube_vote one = asked ? vote(of, kube_text(plugin, "name")) : KUBE_HAS_NO_SAY;
        votes = one > votes ? one : votes;
    }
    return votes;
}

bool kube_votes_admit(const struct kube_world *w, kube_voter vote, void *of)
{
    enum kube_vote votes = KUBE_HAS_NO_SAY;
    for (size_t i = 0; i < json_array_size(w->tiers) && votes == KUBE_HAS_NO_SAY; i++)
        votes = vote_of_tier(json_array_get(w->tiers, i), vote, of);
    return votes != KUBE_IS_AGAINST;
}
