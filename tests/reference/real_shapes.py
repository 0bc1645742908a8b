"""Models of random weights with the layer dimensions of real models, and what PyTorch computes from them.

Usage: python3 tests/reference/real_shapes.py NAME DIR [--layers 2] [--shards 1]
  NAME: qwen2.5-0.5b, qwen3-0.6b, qwen3-1.7b or smollm2-135m. Writes DIR/model (bf16), DIR/lora (rank 16, all targets), DIR/score.json and
  DIR/grad.json (inputs of mua score and mua grad), DIR/expected.json (log-probs with the adapter, float64 from the bf16 weights) and DIR/expected.safetensors (gradients of
  the adapters for the mean log-probability of all tokens).
  The tokenizer is that of models/glimpse-retail with invented words up to the size of the vocabulary.
"""
import argparse
import json
import math
import pathlib
import struct

import torch

from lora import TARGETS, adapters, merged
from qwen3 import save_tensors, shapes, scores

COMMON = dict(vocab_size=151936, hidden_act='silu', rms_norm_eps=1e-6, rope_theta=1000000.0, max_position_embeddings=32768,
              tie_word_embeddings=True)
QWEN3 = dict(COMMON, model_type='qwen3', architectures=['Qwen3ForCausalLM'], attention_bias=False, head_dim=128,
             num_attention_heads=16, num_key_value_heads=8)
MODELS = {
    'qwen2.5-0.5b': dict(COMMON, model_type='qwen2', architectures=['Qwen2ForCausalLM'], hidden_size=896, intermediate_size=4864,
                         num_attention_heads=14, num_key_value_heads=2, head_dim=64),
    'qwen3-0.6b': dict(QWEN3, hidden_size=1024, intermediate_size=3072),
    'qwen3-1.7b': dict(QWEN3, hidden_size=2048, intermediate_size=6144),
    'smollm2-135m': dict(COMMON, model_type='llama', architectures=['LlamaForCausalLM'], attention_bias=False, vocab_size=49152,
                         rms_norm_eps=1e-5, rope_theta=100000.0, max_position_embeddings=8192, hidden_size=576, intermediate_size=1536,
                         num_attention_heads=9, num_key_value_heads=3, head_dim=64),
}


def bf16_weights(c, seed):
    torch.manual_seed(seed)
    out = {}
    for name, shape in shapes(c).items():
        x = torch.randn(shape, dtype=torch.float32)
        x = 1 + 0.1 * x if name.endswith('norm.weight') else 0.02 * x if 'embed' in name else x / math.sqrt(shape[-1])
        out[name] = x.to(torch.bfloat16)
    return out


def save_bf16(path, tensors):
    header, end = {}, 0
    for name, x in tensors.items():
        header[name] = dict(dtype='BF16', shape=list(x.shape), data_offsets=[end, end + 2 * x.numel()])
        end += 2 * x.numel()
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    with path.open('wb') as file:
        file.write(struct.pack('<Q', len(text)) + text)
        for x in tensors.values():
            file.write(x.view(torch.int16).numpy().tobytes())


def save_tokenizer(folder, vocab_size):
    source = pathlib.Path(__file__).parents[2] / 'models' / 'glimpse-retail'
    tokenizer = json.loads((source / 'tokenizer.json').read_text())
    used = {*tokenizer['model']['vocab'].values(), *(token['id'] for token in tokenizer['added_tokens'])}
    tokenizer['model']['vocab'].update({f'w{i}': i for i in range(vocab_size) if i not in used})
    (folder / 'tokenizer.json').write_text(json.dumps(tokenizer))
    (folder / 'tokenizer_config.json').write_bytes((source / 'tokenizer_config.json').read_bytes())


def save_model(folder, c, w, shards):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / 'config.json').write_text(json.dumps(c, indent=2) + '\n')
    save_tokenizer(folder, c['vocab_size'])
    if shards == 1:
        return save_bf16(folder / 'model.safetensors', w)
    names, weight_map = list(w), {}
    for i in range(shards):
        file = f'model-{i + 1:05d}-of-{shards:05d}.safetensors'
        part = {name: w[name] for name in names[i * len(names) // shards:(i + 1) * len(names) // shards]}
        save_bf16(folder / file, part)
        weight_map.update({name: file for name in part})
    (folder / 'model.safetensors.index.json').write_text(json.dumps(dict(metadata={}, weight_map=weight_map)) + '\n')


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('name', choices=MODELS)
    parser.add_argument('directory', type=pathlib.Path)
    parser.add_argument('--layers', type=int, default=2)
    parser.add_argument('--shards', type=int, default=1)
    parser.add_argument('--no-expected', action='store_true', help='write no expected values: those of a deep model take much memory')
    args = parser.parse_args()
    c = dict(MODELS[args.name], num_hidden_layers=args.layers)
    stored = bf16_weights(c, 3)
    save_model(args.directory / 'model', c, stored, args.shards)
    lora = adapters(stored, 16, TARGETS, 4)
    with torch.no_grad():
        for x in lora.values():
            x *= 0.1
    folder = args.directory / 'lora'
    folder.mkdir(exist_ok=True)
    save_tensors(folder / 'adapter_model.safetensors', lora)
    (folder / 'adapter_config.json').write_text(json.dumps(dict(
        peft_type='LORA', task_type='CAUSAL_LM', r=16, lora_alpha=32, target_modules=TARGETS, lora_dropout=0.0, bias='none')) + '\n')
    generator = torch.Generator().manual_seed(5)
    tokens = [torch.randint(0, c['vocab_size'], (length,), generator=generator).tolist() for length in (24, 9)]
    (args.directory / 'score.json').write_text(json.dumps(dict(sequences=tokens)))
    (args.directory / 'grad.json').write_text(json.dumps(dict(
        loss='sft', sequences=[dict(tokens=t, loss_mask=[0] + [1] * (len(t) - 1)) for t in tokens])))
    if args.no_expected:
        return
    w = {name: x.double() for name, x in stored.items()}
    logprobs = [scores(c, merged(w, lora, 2.0), t)[0] for t in tokens]
    loss = -sum(x.sum() for x in logprobs) / sum(len(x) for x in logprobs)
    gradients = torch.autograd.grad(loss, list(lora.values()))
    (args.directory / 'expected.json').write_text(json.dumps(dict(logprobs=[x.tolist() for x in logprobs], loss=float(loss))))
    save_tensors(args.directory / 'expected.safetensors', dict(zip(lora, gradients)))


if __name__ == '__main__':
    main()
