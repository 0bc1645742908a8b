"""Reference values of advantages, losses and gradients, computed by verl's and TRL's own functions in float64.

Runs verl's `compute_*_advantage`, `DAPORewardManager` and `ppo_loss` (which calls `compute_policy_loss_*`, `kl_penalty` and
`agg_loss`), and the loss of TRL's `GRPOTrainer`, on one batch. The batch has groups of binary, equal and graded rewards,
responses of unequal lengths with tokens that were not sampled in between, and ratios beyond every clip. Only the files that
hold these functions are run; packages that they import and do not need here are replaced by empty ones.

Usage: python3 tests/reference/verl_algorithms.py VERL TRL        (writes tests/reference/fixtures/verl-algorithms.json)
VERL and TRL are git repositories of github.com/volcengine/verl and github.com/huggingface/trl. Needs PyTorch.
"""
import ast
import collections
import importlib
import importlib.abc
import importlib.machinery
import json
import pathlib
import subprocess
import sys
import types

import numpy
import torch

torch.set_default_dtype(torch.float64)
OUTPUT = pathlib.Path(__file__).parent / 'fixtures' / 'verl-algorithms.json'
VERL_FILES = {
    'verl.trainer.ppo.core_algos': 'verl/trainer/ppo/core_algos.py',
    'verl.utils.torch_functional': 'verl/utils/torch_functional.py',
    'verl.workers.utils.losses': 'verl/workers/utils/losses.py',
    'verl.workers.reward_manager.dapo': 'verl/workers/reward_manager/dapo.py',
}


def git(repository, *arguments):
    return subprocess.run(['git', '-C', repository, *arguments], check=True, capture_output=True, text=True).stdout


class Anything(type):
    """The class of stub classes: each attribute is a function that does nothing."""

    def __getattr__(cls, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return lambda *args, **kwargs: None


class Stub(types.ModuleType):
    """An empty package: a capitalised name is a class, any other name makes a decorator that changes nothing."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        if not name[0].isupper():
            return lambda *args, **kwargs: lambda function: function
        made = Anything(name, (), {'__init__': lambda self, *args, **kwargs: None})
        setattr(self, name, made)
        return made


class Loader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, repository):
        self.repository = repository

    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] in ('verl', 'omegaconf', 'tensordict', 'transformers'):
            return importlib.machinery.ModuleSpec(name, self, is_package=name not in VERL_FILES)

    def create_module(self, spec):
        return types.ModuleType(spec.name) if spec.name in VERL_FILES else Stub(spec.name)

    def exec_module(self, module):
        if module.__name__ in VERL_FILES:
            exec(git(self.repository, 'show', f'HEAD:{VERL_FILES[module.__name__]}'), module.__dict__)


verl_repository, trl_repository = sys.argv[1:]
sys.meta_path.insert(0, Loader(verl_repository))
core_algos = importlib.import_module('verl.trainer.ppo.core_algos')
losses = importlib.import_module('verl.workers.utils.losses')
DAPORewardManager = importlib.import_module('verl.workers.reward_manager.dapo').DAPORewardManager
worker_config = importlib.import_module('verl.workers.config')

losses._slice_response_from_unpad_output = lambda tensor, data: tensor

# ---- The batch ----

PROMPT = 5
REWARDS = [1, 0, 0, 1, 1, 1, 1, 1, 0.25, 1, -0.5, 0.25]
INDEX = [0] * 4 + [1] * 4 + [2] * 4
# 1: sampled. 0: a token of a tool or of the customer.
MASKS = [
    '111011', '110', '111111111', '1100110', '11', '1110011', '10101', '111', '1100011', '111101101', '11100011', '1001',
]


def make_batch():
    random = numpy.random.default_rng(7)
    width = max(map(len, MASKS))
    present = torch.zeros(len(MASKS), width)
    response_mask = torch.zeros(len(MASKS), width)
    for i, mask in enumerate(MASKS):
        present[i, : len(mask)] = 1
        response_mask[i, : len(mask)] = torch.tensor([float(m) for m in mask])
    single = lambda values: torch.tensor(numpy.float32(values).astype(numpy.float64))
    shape = (len(MASKS), width)
    log_prob = single(-random.gamma(1, 1.2, shape) - 4)
    # Small and large differences from the old weights, and a shift of each sequence so that also their means differ.
    steps = random.choice([-1.6, -0.5, -0.1, 0.02, 0.1, 0.4, 1.5], shape) + random.normal(0, 0.03, shape)
    old = single(log_prob.numpy() - steps - random.choice([-0.6, -0.1, 0, 0.1, 0.6], (len(MASKS), 1)))
    ref = single(log_prob.numpy() - random.choice([-3, -1, -0.2, 0.1, 0.8, 4], shape) - random.normal(0, 0.05, shape))
    entropy = single(random.gamma(2, 0.4, shape))
    return dict(present=present, response_mask=response_mask, log_prob=log_prob, old=old, ref=ref, entropy=entropy)


BATCH = make_batch()

# ---- verl ----


class ActorConfig(worker_config.ActorConfig):
    """Only the fields that the losses read."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def get(self, name, default=None):
        return getattr(self, name, default)


def rewards_of(settings, rows):
    """The rewards after verl's reward manager of DAPO."""
    if not settings.get('overlong_buffer.enable'):
        return torch.tensor([float(REWARDS[i]) for i in rows])
    width = BATCH['present'].shape[1]
    buffer = types.SimpleNamespace(
        enable=True, len=settings['overlong_buffer.len'], penalty_factor=settings['overlong_buffer.penalty_factor'], log=False
    )
    tokenizer = types.SimpleNamespace(decode=lambda *args, **kwargs: '', eos_token='<eos>')
    manager = DAPORewardManager(
        tokenizer, 0, lambda extra_info, **kwargs: extra_info['score'],
        max_resp_len=settings['max_model_len'] - PROMPT, overlong_buffer_cfg=buffer,
    )
    manager._extract_reward_from_rm_scores = lambda data, return_dict: None

    class Data(list):
        batch = {'responses': torch.zeros(len(rows), width)}

    data = Data(
        types.SimpleNamespace(
            batch={
                'prompts': torch.zeros(PROMPT),
                'responses': torch.zeros(width),
                'attention_mask': torch.cat([torch.ones(PROMPT), BATCH['present'][i]]).long(),
            },
            non_tensor_batch={'reward_model': {'ground_truth': ''}, 'data_source': 'x', 'extra_info': {'score': float(REWARDS[i])}},
        )
        for i in rows
    )
    return manager(data).double().sum(-1)


def advantages_of(settings, rewards, response_mask, index):
    token_level_rewards = torch.zeros_like(response_mask)
    for i, reward in enumerate(rewards):
        token_level_rewards[i, int(response_mask[i].nonzero().max())] = reward
    config = ActorConfig(norm_adv_by_std_in_grpo=settings['norm_adv_by_std_in_grpo'], gamma=settings['gamma'])
    arguments = dict(token_level_rewards=token_level_rewards, response_mask=response_mask, index=numpy.array(index), config=config)
    if settings['adv_estimator'] == 'grpo':
        arguments['norm_adv_by_std_in_grpo'] = settings['norm_adv_by_std_in_grpo']
    if settings['adv_estimator'] == 'reinforce_plus_plus':
        del arguments['index']
    return core_algos.get_adv_estimator_fn(settings['adv_estimator'])(**arguments)[0]


def packed(mask):
    """For each row the positions of its sampled tokens, and the mask of the rows without all other tokens."""
    positions = [row.nonzero().flatten() for row in mask]
    short = torch.zeros_like(mask)
    for i, own in enumerate(positions):
        short[i, : len(own)] = 1
    return positions, short


def run_verl(settings, rows):
    take = lambda name: BATCH[name][rows]
    mask = take('response_mask')
    rewards = rewards_of(settings, rows)
    index = [INDEX[i] for i in rows]
    if settings['adv_estimator'] == 'reinforce_plus_plus':
        # verl's return is 0 before a token that was not sampled. On the sampled tokens alone it is defined as here.
        positions, short = packed(mask)
        values = advantages_of(settings, rewards, short, index)
        advantages = torch.zeros_like(mask)
        for i, own in enumerate(positions):
            advantages[i, own] = values[i, : len(own)]
    else:
        advantages = advantages_of(settings, rewards, mask, index)

    log_prob = take('log_prob').clone().requires_grad_()
    entropy = take('entropy').clone().requires_grad_()
    size = settings['ppo_micro_batch_size_per_gpu'] or len(rows)
    total, metrics = 0.0, {}
    losses.Metric.from_dict = lambda values, aggregation: values
    for first in range(0, len(rows), size):
        part = slice(first, first + size)
        config = ActorConfig(
            clip_ratio=0.2, clip_ratio_low=settings['clip_ratio_low'], clip_ratio_high=settings['clip_ratio_high'],
            clip_ratio_c=settings['clip_ratio_c'], loss_agg_mode=settings['loss_agg_mode'],
            loss_scale_factor=settings['loss_scale_factor'] or None, policy_loss={'loss_mode': settings['loss_mode']},
            use_kl_loss=settings['use_kl_loss'], kl_loss_coef=settings['kl_loss_coef'], kl_loss_type=settings['kl_loss_type'],
            entropy_coeff=settings['entropy_coeff'], global_batch_info={},
        )
        data = dict(
            dp_size=1, batch_num_tokens=None, global_batch_size=None, response_mask=mask[part], old_log_probs=take('old')[part],
            advantages=advantages[part], ref_log_prob=take('ref')[part],
        )
        loss, metrics = losses.ppo_loss(config, {'log_probs': log_prob[part], 'entropy': entropy[part]}, data)
        # As dp_actor.py does: 1 / gradient_accumulation.
        total = total + loss * size / len(rows)
    total.backward()
    result = dict(
        rewards=rewards.tolist(), advantages=ragged(advantages, rows), loss=total.item(),
        gradient=ragged(log_prob.grad, rows), entropy_gradient=ragged(entropy.grad, rows),
    )
    if size == len(rows):
        result['metrics'] = {name: metrics[name] for name in ('actor/pg_clipfrac', 'actor/pg_clipfrac_lower', 'actor/ppo_kl')}
    return result


def ragged(values, rows):
    return [[float(v) for v in values[i, : len(MASKS[row])]] for i, row in enumerate(rows)]


# ---- TRL ----


def trl_loss():
    """GRPOTrainer._compute_loss, taken out of its class."""
    source = git(trl_repository, 'show', 'HEAD:trl/trainer/grpo_trainer.py')
    [method] = [
        item for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == 'GRPOTrainer'
        for item in node.body if isinstance(item, ast.FunctionDef) and item.name == '_compute_loss'
    ]
    scope = {'torch': torch, 'nanmin': torch.min, 'nanmax': torch.max}
    exec(compile(ast.Module([method], []), 'grpo_trainer.py', 'exec'), scope)
    return scope['_compute_loss']


def run_trl(loss_type, level, epsilon_low, epsilon_high, max_completion_length, advantages):
    """`advantages`: one for each sequence."""
    mask = BATCH['response_mask']
    log_prob = BATCH['log_prob'].clone().requires_grad_()
    trainer = types.SimpleNamespace(
        _get_per_token_logps_and_entropies=lambda *args, **kwargs: (log_prob, BATCH['entropy'], None), aux_loss_enabled=False,
        top_entropy_quantile=1.0, off_policy_mask_threshold=None, importance_sampling_level=level, beta=0.0, loss_type=loss_type,
        epsilon_low=epsilon_low, epsilon_high=epsilon_high, args=types.SimpleNamespace(delta=None, use_bias_correction_kl=False),
        use_vllm=False, model=types.SimpleNamespace(training=True), current_gradient_accumulation_steps=1,
        max_completion_length=max_completion_length, _entropy_bonus_enabled=False,
        accelerator=types.SimpleNamespace(num_processes=1, reduce=lambda x, reduction: x, gather=lambda x: x),
        _metrics=collections.defaultdict(lambda: collections.defaultdict(list)),
    )
    ids = torch.zeros_like(mask).long()
    loss = trl_loss()(trainer, None, dict(
        prompt_ids=ids, prompt_mask=ids, completion_ids=ids, completion_mask=BATCH['present'], tool_mask=mask,
        old_per_token_logps=BATCH['old'], advantages=torch.tensor(advantages), num_items_in_batch=mask.sum(),
    ))
    loss.backward()
    return dict(
        loss_type=loss_type, importance_sampling_level=level, epsilon=epsilon_low, epsilon_high=epsilon_high,
        max_completion_length=max_completion_length, loss=loss.item(), gradient=ragged(log_prob.grad, range(len(MASKS))),
    )


# ---- The cases ----

BASE = {
    'adv_estimator': 'grpo', 'norm_adv_by_std_in_grpo': True, 'gamma': 1, 'loss_mode': 'vanilla', 'loss_agg_mode': 'token-mean',
    'loss_scale_factor': 0, 'clip_ratio_low': 0.2, 'clip_ratio_high': 0.2, 'clip_ratio_c': 3, 'use_kl_loss': True,
    'kl_loss_coef': 0.3, 'kl_loss_type': 'low_var_kl', 'entropy_coeff': 0, 'ppo_micro_batch_size_per_gpu': 0,
}
CASES = {
    # One for each algorithm of src/training/algorithms, under its name.
    'grpo': {},
    'dr-grpo': {'norm_adv_by_std_in_grpo': False, 'loss_agg_mode': 'seq-mean-token-sum-norm', 'loss_scale_factor': 108, 'use_kl_loss': False},
    'rloo': {'adv_estimator': 'rloo'},
    'reinforce-plus-plus': {'adv_estimator': 'reinforce_plus_plus'},
    'gspo': {
        'loss_mode': 'gspo', 'loss_agg_mode': 'seq-mean-token-mean', 'clip_ratio_low': 3e-3, 'clip_ratio_high': 4e-3, 'use_kl_loss': False,
    },
    'cispo': {'loss_mode': 'cispo', 'clip_ratio_low': 10, 'clip_ratio_high': 0.2},
    'dapo': {
        'clip_ratio_high': 0.28, 'clip_ratio_c': 10, 'use_kl_loss': False, 'overlong_buffer.enable': True, 'overlong_buffer.len': 4,
        'overlong_buffer.penalty_factor': 1, 'max_model_len': PROMPT + 9, 'groups': [0, 2],
    },
    'ppo-epochs': {},
    # Single settings.
    'gspo, wide clip, KL': {'loss_mode': 'gspo', 'loss_agg_mode': 'seq-mean-token-mean', 'clip_ratio_low': 0.2, 'clip_ratio_high': 0.28},
    'cispo, both clips': {'loss_mode': 'cispo', 'clip_ratio_low': 0.4},
    'gamma 0.9': {'adv_estimator': 'reinforce_plus_plus', 'gamma': 0.9},
    'reinforce_plus_plus_baseline': {'adv_estimator': 'reinforce_plus_plus_baseline'},
    'opo': {'adv_estimator': 'opo'},
    'grpo_passk': {'adv_estimator': 'grpo_passk'},
    'grpo_passk without std': {'adv_estimator': 'grpo_passk', 'norm_adv_by_std_in_grpo': False},
    'seq-mean-token-sum, entropy': {'loss_agg_mode': 'seq-mean-token-sum', 'entropy_coeff': 0.02},
    'seq-mean-token-mean, k1': {'loss_agg_mode': 'seq-mean-token-mean', 'kl_loss_type': 'kl'},
    'seq-mean-token-sum-norm, k2': {'loss_agg_mode': 'seq-mean-token-sum-norm', 'loss_scale_factor': 9, 'kl_loss_type': 'mse'},
    'micro-batches, abs': {'ppo_micro_batch_size_per_gpu': 3, 'kl_loss_type': 'abs'},
}
TRL_CASES = [('grpo', 'token', 0.2, 0.2, 0), ('grpo', 'sequence', 3e-4, 4e-4, 0), ('cispo', 'token', 0.2, 1.2, 0), ('dapo', 'token', 0.2, 0.28, 0),
             ('dr_grpo', 'token', 0.2, 0.2, 9)]


def main():
    cases = []
    for name, changed in CASES.items():
        settings = {**BASE, **changed}
        groups = settings.pop('groups', [0, 1, 2])
        rows = [i for i, group in enumerate(INDEX) if group in groups]
        cases.append(dict(name=name, config=settings, groups=groups, **run_verl(settings, rows)))
    rows = range(len(MASKS))
    mask = BATCH['response_mask']
    trl_advantages = core_algos.compute_grpo_outcome_advantage(
        torch.tensor([[float(r)] for r in REWARDS]), torch.ones(len(REWARDS), 1), numpy.array(INDEX)
    )[0].flatten().tolist()
    fixture = dict(
        verl=git(verl_repository, 'rev-parse', 'HEAD').strip(), trl=git(trl_repository, 'rev-parse', 'HEAD').strip(),
        batch=dict(
            prompt=PROMPT, rewards=REWARDS, index=INDEX, masks=[[int(m) for m in text] for text in MASKS],
            logprobs=ragged(BATCH['log_prob'], rows), old_logprobs=ragged(BATCH['old'], rows), ref_logprobs=ragged(BATCH['ref'], rows),
            entropies=ragged(BATCH['entropy'], rows),
        ),
        cases=cases,
        # Where this project differs on purpose.
        group_of_one=advantages_of(BASE, torch.tensor([1.0]), torch.ones(1, 2), [0])[0].tolist(),
        reinforce_plus_plus_with_gaps=ragged(
            advantages_of({**BASE, 'adv_estimator': 'reinforce_plus_plus'}, rewards_of(BASE, rows), mask, INDEX), rows),
        trl_cases=[run_trl(*case, trl_advantages) for case in TRL_CASES],
    )
    shorten = lambda value: json.loads(json.dumps(value), parse_float=lambda text: float(f'{float(text):.10g}'))
    OUTPUT.write_text('{\n' + ',\n'.join(
        f'{json.dumps(key)}: ' + ('[\n' + ',\n'.join(json.dumps(item, separators=(',', ':')) for item in value) + '\n]'
                                  if key.endswith('cases') else json.dumps(value, separators=(',', ':')))
        for key, value in shorten(fixture).items()) + '\n}\n')


main()
