"""Log-probs of the bundled models in float64, and how far float32 and float64 in transformers are from them.

transformers computes the angles of rotary embeddings, the norms and the softmax of attention in float32 even if the model is
float64. So its float64 model errs too: by 2e-4 with the bundled models. The expected values are those of qwen3.py, where
everything is float64.

Usage: python3 tests/reference/exactness.py        (torch 2.7.1, transformers 4.57.6; writes tests/reference/fixtures/exactness.json)
"""
import json
import pathlib
import random
import struct

import torch
from transformers import AutoModelForCausalLM

from qwen3 import FIXTURES, scores

MODELS = pathlib.Path(__file__).parents[2] / 'models'
NAMES = ['glimpse-retail', 'nano-retail', 'small-retail']


def tensors(path):
    """The tensors of a safetensors file with float32 values, in float64"""
    raw = path.read_bytes()
    size, = struct.unpack('<Q', raw[:8])
    header = json.loads(raw[8:8 + size])
    part = lambda begin, end: torch.frombuffer(bytearray(raw[8 + size + begin:8 + size + end]), dtype=torch.float32)
    return {name: part(*entry['data_offsets']).reshape(entry['shape']).double()
            for name, entry in header.items() if name != '__metadata__'}


def sequences(vocab, count=6, longest=400):
    source = random.Random(7)
    return [[source.randrange(vocab) for _ in range(source.randrange(8, longest))] for _ in range(count)]


@torch.no_grad()
def of_transformers(name, dtype, ids):
    model = AutoModelForCausalLM.from_pretrained(MODELS / name, dtype=dtype).eval()
    return [model(torch.tensor([s])).logits[0, :-1].double().log_softmax(-1)[torch.arange(len(s) - 1), torch.tensor(s[1:])] for s in ids]


def errors(a, b):
    error = (torch.cat(a) - torch.cat(b)).abs()
    return dict(worst=float(error.max()), rms=float(error.pow(2).mean().sqrt()))


def figures(name):
    config = json.loads((MODELS / name / 'config.json').read_text())
    ids = sequences(config['vocab_size'])
    weights = tensors(MODELS / name / 'model.safetensors')
    with torch.no_grad():
        expected = [scores(config, weights, s)[0] for s in ids]
    torch.set_default_dtype(torch.float32)
    theirs = {dtype: errors(of_transformers(name, getattr(torch, dtype), ids), expected) for dtype in ('float32', 'float64')}
    torch.set_default_dtype(torch.float64)
    print(name, theirs)
    return dict(sequences=[dict(tokens=s, logprobs=[round(x, 9) for x in e.tolist()]) for s, e in zip(ids, expected)],
                transformers=theirs)


if __name__ == '__main__':
    (FIXTURES / 'exactness.json').write_text(json.dumps({name: figures(name) for name in NAMES}) + '\n')
