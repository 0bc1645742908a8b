"""Reference values of the turn-level advantages, in float64, written out from the equations of the papers.

MT-GRPO (arXiv 2505.11821): A_k = sum_{l=k}^{K} gamma^(l-k) GN(r_l) + gamma^(K-k) GN(o).
GTPO hybrid (arXiv 2604.02869): A_k = GN(sum_{l=k}^{K} gamma^(l-k) r_l + gamma^(K-k) o) + coef GN(o).
GN(x) = (x - mean) / (std + 1e-6) over the rollouts of the group that have this turn, with the sample standard deviation, or
x - mean. It is 0 if only one rollout has the turn. Turns are numbered from 1 to K. o is the outcome, r_k the reward of turn k.

Usage: python3 tests/reference/turn_advantages.py        (writes tests/reference/fixtures/turn-advantages.json)
"""
import json
import pathlib
import statistics

OUTPUT = pathlib.Path(__file__).parent / 'fixtures' / 'turn-advantages.json'

# For each rollout: its outcome, and the reward and number of tokens of each of its turns.
GROUPS = [
    # Equal numbers of turns. The third rollout damages a row and repairs the damage.
    [(1, [(0, 3), (0.5, 2), (0.5, 4)]), (0, [(0.5, 1), (0, 2), (-0.5, 5)]), (0, [(-1, 2), (1, 3), (0, 1)]), (1, [(0, 2), (1, 6), (0, 2)])],
    # Unequal numbers: only the second rollout has turns 4 and 5, and only the first has a single turn.
    [(0, [(0, 4)]), (1, [(0, 1), (0, 2), (1 / 3, 3), (2 / 3, 2), (0, 1)]), (0.25, [(-1 / 3, 2), (0, 2), (1 / 3, 1)])],
    # Equal outcomes, and rewards that differ only in their turns.
    [(1, [(1, 2), (0, 2)]), (1, [(0, 3), (1, 1)])],
    # No difference at all, and a rollout that is alone.
    [(0, [(0, 2), (0, 1)]), (0, [(0, 1), (0, 3)])],
    [(1, [(1, 2), (0, 3)])],
]

CASES = {
    'mt-grpo': dict(adv_estimator='mt_grpo', norm_adv_by_std_in_grpo=True, gamma=1),
    'mt-grpo with gamma 0.5': dict(adv_estimator='mt_grpo', norm_adv_by_std_in_grpo=True, gamma=0.5),
    'mt-grpo without std': dict(adv_estimator='mt_grpo', norm_adv_by_std_in_grpo=False, gamma=0.9),
    'gtpo': dict(adv_estimator='gtpo', norm_adv_by_std_in_grpo=True, gamma=0.9, outcome_advantage_coef=0.3),
    'gtpo with gamma 1 and coefficient 0': dict(adv_estimator='gtpo', norm_adv_by_std_in_grpo=True, gamma=1, outcome_advantage_coef=0),
    'gtpo without std': dict(adv_estimator='gtpo', norm_adv_by_std_in_grpo=False, gamma=0.5, outcome_advantage_coef=0.7),
}


def gn(value, values, divide):
    if len(values) == 1:
        return 0.0
    difference = value - sum(values) / len(values)
    return difference / (statistics.stdev(values) + 1e-6) if divide else difference


def advantage(group, i, k, settings):
    """The advantage of turn k of rollout i."""
    gamma, divide = settings['gamma'], settings['norm_adv_by_std_in_grpo']
    reward = lambda j, l: group[j][1][l - 1][0]
    turns = lambda j: len(group[j][1])
    having = lambda l: [j for j in range(len(group)) if turns(j) >= l]
    outcome = gn(group[i][0], [o for o, _ in group], divide)
    last = turns(i)
    if settings['adv_estimator'] == 'mt_grpo':
        compared = lambda l: gn(reward(i, l), [reward(j, l) for j in having(l)], divide)
        return sum(gamma ** (l - k) * compared(l) for l in range(k, last + 1)) + gamma ** (last - k) * outcome
    total = lambda j: (
        sum(gamma ** (l - k) * reward(j, l) for l in range(k, turns(j) + 1)) + gamma ** (turns(j) - k) * group[j][0])
    return gn(total(i), [total(j) for j in having(k)], divide) + settings['outcome_advantage_coef'] * outcome


def tokens(group, i, settings):
    """One advantage for each token of rollout i."""
    return [advantage(group, i, k, settings) for k, (_, length) in enumerate(group[i][1], 1) for _ in range(length)]


OUTPUT.write_text(json.dumps({
    'groups': [[{'outcome': o, 'turns': [{'reward': r, 'length': n} for r, n in turns]} for o, turns in group] for group in GROUPS],
    'cases': [
        {'name': name, 'config': settings, 'advantages': [[tokens(group, i, settings) for i in range(len(group))] for group in GROUPS]}
        for name, settings in CASES.items()
    ],
}, indent=1) + '\n')
