"""The loss, the metrics and the gradients of TRL's DPOTrainer on a tiny model, in float64. The tests compare `mua dpo` with these values.

Usage: python trl_dpo.py           compares TRL's values with tests/reference/fixtures/dpo
       python trl_dpo.py --write   writes them there
`npm run engines -- all trl_dpo` runs the comparison. Needs the packages of the environment `trl` (environments.json).
"""

import json
import sys
import tempfile

import torch
import torch.nn.functional as F
from datasets import Dataset
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast
from trl import DPOConfig, DPOTrainer

from common import ROOT, row

MODEL = ROOT / 'tests/reference/fixtures/qwen3'
FIXTURE = ROOT / 'tests/reference/fixtures/dpo'
CASES = {
    'sigmoid': {'loss_type': ['sigmoid'], 'beta': 0.1},
    'sharp': {'loss_type': ['sigmoid'], 'beta': 2.5},
    'ipo': {'loss_type': ['ipo'], 'beta': 0.2},
}
# The tensors whose gradients are compared.
TENSORS = ['model.embed_tokens.weight', 'model.layers.0.self_attn.q_proj.weight', 'model.layers.1.mlp.down_proj.weight', 'model.norm.weight']
# TRL's loss sigmoid has no label_smoothing any more. These values follow its older code, which had it.
SMOOTHED = {'beta': 0.5, 'label_smoothing': 0.2}


def words(*ids):
    return ''.join(f' w{i}' for i in ids)


PAIRS = [
    {'prompt': words(5, 9, 3, 17), 'chosen': words(4, 8), 'rejected': words(6)},
    {'prompt': words(2, 30), 'chosen': words(7), 'rejected': words(11, 12, 13, 40, 41)},
    {'prompt': words(*range(20, 36)), 'chosen': words(9, 9, 4, 3, 3), 'rejected': words(9, 9, 2)},
    {'prompt': words(14), 'chosen': words(33, 34, 35), 'rejected': words(45, 44, 43)},
]


def tokenizer(size):
    vocabulary = {'[pad]': 0, '[eos]': 1, **{f'w{i}': i for i in range(2, size)}}
    own = Tokenizer(models.WordLevel(vocabulary, unk_token='[pad]'))
    own.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(tokenizer_object=own, eos_token='[eos]', pad_token='[pad]', unk_token='[pad]')


def load(seed=None):
    model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float64, attn_implementation='eager')
    if seed is not None:
        torch.manual_seed(seed)
        with torch.no_grad():
            for value in model.parameters():
                value.add_(0.05 * torch.randn_like(value))
    return model


def trainer(**given):
    args = DPOConfig(output_dir=tempfile.mkdtemp(), per_device_train_batch_size=len(PAIRS), use_cpu=True, report_to=[], bf16=False, gradient_checkpointing=False, **given)
    return DPOTrainer(model=load(), ref_model=load(seed=0), args=args, train_dataset=Dataset.from_list(PAIRS), processing_class=tokenizer(load().config.vocab_size))


def gradients(model):
    return {name: model.get_parameter(name).grad.float() for name in TENSORS}


def sums(model, batch):
    """The log-probabilities of the answers, by transformers only. The first half of the batch is chosen."""
    logits = model(input_ids=batch['input_ids'], attention_mask=batch['attention_mask']).logits[:, :-1].log_softmax(-1)
    own = logits.gather(-1, batch['input_ids'][:, 1:, None])[..., 0]
    return (own * batch['completion_mask'][:, 1:]).sum(1)


figures, grads = {'cases': {}}, {}
for name, given in CASES.items():
    run = trainer(**given)
    batch = run.data_collator([run.train_dataset[i] for i in range(len(PAIRS))])
    run.model.train()
    loss = run.compute_loss(run.model, batch)
    loss.backward()
    metrics = {key: values[0] for key, values in run._metrics['train'].items() if key.split('/')[0] in ('rewards', 'logps')}
    figures['cases'][name] = {'config': {**given, 'loss_type': given['loss_type'][0], 'label_smoothing': 0}, 'loss': loss.item(), 'metrics': metrics}
    grads[name] = gradients(run.model)

model, reference = load(), load(seed=0)
with torch.no_grad():
    ref = sums(reference, batch).chunk(2)
policy = sums(model, batch).chunk(2)
delta = SMOOTHED['beta'] * ((policy[0] - ref[0]) - (policy[1] - ref[1]))
losses = -(1 - SMOOTHED['label_smoothing']) * F.logsigmoid(delta) - SMOOTHED['label_smoothing'] * F.logsigmoid(-delta)
losses.mean().backward()
figures['cases']['smoothed'] = {'config': {**SMOOTHED, 'loss_type': 'sigmoid'}, 'loss': losses.mean().item(), 'metrics': {}}
grads['smoothed'] = gradients(model)

listed = [run.train_dataset[i] for i in range(len(PAIRS))]
figures['pairs'] = [{key: own[f'{key}_ids'] for key in ('prompt', 'chosen', 'rejected')} for own in listed]
for key, values in (('policy', policy), ('reference', ref)):
    figures[key] = [{'chosen': a, 'rejected': b} for a, b in zip(values[0].tolist(), values[1].tolist())]

if '--write' in sys.argv:
    FIXTURE.mkdir(exist_ok=True)
    (FIXTURE / 'figures.json').write_text(json.dumps(figures, indent=1) + '\n')
    for name, tensors in grads.items():
        save_file(tensors, FIXTURE / f'{name}-gradients.safetensors')
else:
    known = json.loads((FIXTURE / 'figures.json').read_text())
    flat = lambda value: [part for child in (value.values() if isinstance(value, dict) else value) for part in flat(child)] if isinstance(value, (dict, list)) else [value]
    apart = [abs(a - b) for a, b in zip(flat(known), flat(figures)) if isinstance(a, (int, float))]
    same = len(flat(known)) == len(flat(figures))
    for name, tensors in grads.items():
        own = load_file(FIXTURE / f'{name}-gradients.safetensors')
        same = same and own.keys() == tensors.keys()
        apart += [(own[key] - value).abs().max().item() for key, value in tensors.items()]
    row('TRL', 'DPOTrainer against the values of our tests: losses, metrics, gradients', f'{len(apart)} values and tensors, at most {max(apart):.1e} off', same and max(apart) < 1e-6)
