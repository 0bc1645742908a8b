"""Reference figures for the engine's tests: Qwen3, Qwen2 and Llama decoders in PyTorch float64.

The decoder follows Hugging Face's modeling_qwen3.py, modeling_qwen2.py and modeling_llama.py (RMSNorm in the residual stream,
per-head q/k norm before rotary embeddings in Qwen3, biases on q, k and v in Qwen2, rotate-half, grouped-query attention, SwiGLU;
scaled rotary embeddings as _compute_llama3_parameters of modeling_rope_utils.py);
losses follow verl's core_algos.py (clipped policy loss with dual clip, low_var_kl, entropy). Weights are rounded to
float32 before anything is computed.

Usage: python3 tests/reference/qwen3.py        (writes tests/reference/fixtures/<model>/)
"""
import json
import math
import pathlib
import struct

import numpy
import torch

torch.set_default_dtype(torch.float64)
FIXTURES = pathlib.Path(__file__).parent / 'fixtures'
BASE = dict(
    vocab_size=270, hidden_size=24, intermediate_size=36, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    head_dim=8, rms_norm_eps=1e-6, rope_theta=10000.0, max_position_embeddings=512, hidden_act='silu', tie_word_embeddings=True,
)
MODELS = {
    'qwen3': dict(BASE, model_type='qwen3', architectures=['Qwen3ForCausalLM'], attention_bias=False),
    'qwen3-untied': dict(BASE, model_type='qwen3', architectures=['Qwen3ForCausalLM'], attention_bias=False, tie_word_embeddings=False,
                         num_attention_heads=3, num_key_value_heads=3, head_dim=16),
    'qwen2': dict(BASE, model_type='qwen2', architectures=['Qwen2ForCausalLM'], hidden_size=28, num_attention_heads=7, num_key_value_heads=1),
    'llama': dict(BASE, model_type='llama', architectures=['LlamaForCausalLM'], attention_bias=False, rms_norm_eps=1e-5,
                  num_attention_heads=9, num_key_value_heads=3),
    # With these lengths the first rotary frequency stays, the second is mixed, and the others are divided.
    'llama3': dict(BASE, model_type='llama', architectures=['LlamaForCausalLM'], attention_bias=False, rms_norm_eps=1e-5, head_dim=16,
                   tie_word_embeddings=False, rope_scaling=dict(
                       rope_type='llama3', factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)),
}
GRPO = dict(loss_mode='vanilla', clip_ratio_low=0.2, clip_ratio_high=0.28, clip_ratio_c=3.0, use_kl_loss=True, kl_loss_coef=0.05, kl_loss_type='low_var_kl', entropy_coeff=0.01)
ADAMW = dict(lr=3e-3, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1, grad_clip=0.5)
TEMPERATURE = 0.7


def shapes(c):
    h, i, d = c['hidden_size'], c['intermediate_size'], c['head_dim']
    q, kv = c['num_attention_heads'] * d, c['num_key_value_heads'] * d
    out = {'model.embed_tokens.weight': [c['vocab_size'], h]}
    for layer in range(c['num_hidden_layers']):
        p = f'model.layers.{layer}.'
        out[p + 'input_layernorm.weight'] = [h]
        for name, rows in (('q', q), ('k', kv), ('v', kv)):
            out[p + f'self_attn.{name}_proj.weight'] = [rows, h]
            if c['model_type'] == 'qwen2':
                out[p + f'self_attn.{name}_proj.bias'] = [rows]
        if c['model_type'] == 'qwen3':
            out[p + 'self_attn.q_norm.weight'] = [d]
            out[p + 'self_attn.k_norm.weight'] = [d]
        out[p + 'self_attn.o_proj.weight'] = [h, q]
        out[p + 'post_attention_layernorm.weight'] = [h]
        out[p + 'mlp.gate_proj.weight'] = [i, h]
        out[p + 'mlp.up_proj.weight'] = [i, h]
        out[p + 'mlp.down_proj.weight'] = [h, i]
    out['model.norm.weight'] = [h]
    if not c['tie_word_embeddings']:
        out['lm_head.weight'] = [c['vocab_size'], h]
    return out


def random_weights(c, seed):
    generator = torch.Generator().manual_seed(seed)
    weights = {}
    for name, shape in shapes(c).items():
        x = torch.randn(shape, generator=generator)
        x = 1 + 0.2 * x if name.endswith('norm.weight') else 0.25 * x
        weights[name] = x.float().double().requires_grad_()
    return weights


def rms_norm(x, weight, eps):
    return weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def frequencies(c):
    """[head_dim / 2], in radians per position"""
    frequency = c['rope_theta'] ** (-torch.arange(0, c['head_dim'], 2) / c['head_dim'])
    scaling = c.get('rope_scaling')
    if not scaling:
        return frequency
    length, low, high = (scaling[name] for name in ('original_max_position_embeddings', 'low_freq_factor', 'high_freq_factor'))
    wavelength = 2 * math.pi / frequency
    smooth = (length / wavelength - low) / (high - low)
    mixed = (1 - smooth) * frequency / scaling['factor'] + smooth * frequency
    slow = torch.where(wavelength > length / low, frequency / scaling['factor'], mixed)
    return torch.where(wavelength < length / high, frequency, slow)


def logits_of(c, w, tokens):
    """[len(tokens), vocab]"""
    d, eps = c['head_dim'], c['rms_norm_eps']
    length = len(tokens)
    angle = torch.arange(length)[:, None] * frequencies(c)
    cos, sin = torch.cat([angle, angle], -1).cos(), torch.cat([angle, angle], -1).sin()
    mask = torch.full((length, length), -math.inf).triu(1)
    x = w['model.embed_tokens.weight'][torch.tensor(tokens)]
    for layer in range(c['num_hidden_layers']):
        p = f'model.layers.{layer}.'

        def heads(name, count):
            y = h @ w[p + f'self_attn.{name}_proj.weight'].T
            if c['model_type'] == 'qwen2':
                y = y + w[p + f'self_attn.{name}_proj.bias']
            y = y.view(length, count, d)
            if c['model_type'] == 'qwen3' and name != 'v':
                y = rms_norm(y, w[p + f'self_attn.{name}_norm.weight'], eps)
            y = y.transpose(0, 1)
            return y if name == 'v' else rotate(y, cos, sin)

        h = rms_norm(x, w[p + 'input_layernorm.weight'], eps)
        group = c['num_attention_heads'] // c['num_key_value_heads']
        q = heads('q', c['num_attention_heads'])
        k = heads('k', c['num_key_value_heads']).repeat_interleave(group, 0)
        v = heads('v', c['num_key_value_heads']).repeat_interleave(group, 0)
        attended = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(d) + mask, -1) @ v
        x = x + attended.transpose(0, 1).reshape(length, -1) @ w[p + 'self_attn.o_proj.weight'].T
        h = rms_norm(x, w[p + 'post_attention_layernorm.weight'], eps)
        gate, up = h @ w[p + 'mlp.gate_proj.weight'].T, h @ w[p + 'mlp.up_proj.weight'].T
        x = x + (torch.nn.functional.silu(gate) * up) @ w[p + 'mlp.down_proj.weight'].T
    x = rms_norm(x, w['model.norm.weight'], eps)
    return x @ (w['model.embed_tokens.weight'] if c['tie_word_embeddings'] else w['lm_head.weight']).T


def scores(c, w, tokens, temperature=1.0):
    """Log-probability of each token after the first, and the entropy of its distribution."""
    logp = torch.log_softmax(logits_of(c, w, tokens)[:-1] / temperature, -1)
    picked = logp[torch.arange(len(tokens) - 1), torch.tensor(tokens[1:])]
    return picked, -(logp.exp() * logp).sum(-1)


def clip_loss(logp, old, ref, advantage, entropy):
    ratio = torch.exp(logp - old)
    unclipped, clipped = -advantage * ratio, -advantage * ratio.clamp(1 - GRPO['clip_ratio_low'], 1 + GRPO['clip_ratio_high'])
    upper = torch.maximum(unclipped, clipped)
    policy = upper.clamp(max=-advantage * GRPO['clip_ratio_c']) if advantage < 0 else upper
    kl = torch.exp(ref - logp) - (ref - logp) - 1
    return policy + GRPO['kl_loss_coef'] * kl - GRPO['entropy_coeff'] * entropy


def gradients(loss, w):
    return dict(zip(w, torch.autograd.grad(loss, list(w.values()))))


def sequences(seed):
    """Three share a prompt of 21 tokens and one a shorter beginning of it; two turns carry loss, with a gap; odd lengths."""
    rng = numpy.random.default_rng(seed)
    prompt = rng.integers(0, 270, 21).tolist()
    out = []
    for tail, gap in ((17, 5), (30, 11), (9, 0)):
        tokens = prompt + rng.integers(0, 270, tail).tolist()
        mask = [0] * len(prompt) + [1] * tail
        for t in range(len(prompt) + 3, len(prompt) + 3 + gap):
            mask[t] = 0
        out.append((tokens, mask))
    out.append((prompt[:13] + rng.integers(0, 270, 8).tolist(), [0] * 14 + [1] * 7))
    tokens = rng.integers(0, 270, 11).tolist()
    out.append((tokens, [0] + [1] * 10))
    out.append(([5, 6], [0, 1]))
    return [dict(tokens=tokens, loss_mask=mask) for tokens, mask in out]


def save_tensors(path, tensors):
    header, blobs, end = {}, [], 0
    for name, x in tensors.items():
        blob = x.detach().numpy().astype('<f4').tobytes()
        header[name] = dict(dtype='F32', shape=list(x.shape), data_offsets=[end, end + len(blob)])
        blobs.append(blob)
        end += len(blob)
    text = json.dumps(header).encode()
    text += b' ' * (-len(text) % 8)
    path.write_bytes(struct.pack('<Q', len(text)) + text + b''.join(blobs))


def sft_loss(c, w, batch, total):
    return -sum((scores(c, w, s['tokens'])[0] * torch.tensor(s['loss_mask'][1:])).sum() for s in batch) / total


def adamw(c, start, batch, total, steps):
    """PyTorch's AdamW with clip_grad_norm_; norms and biases are not decayed."""
    w = {name: x.detach().clone().requires_grad_() for name, x in start.items()}
    m = {name: torch.zeros_like(x) for name, x in w.items()}
    v = {name: torch.zeros_like(x) for name, x in w.items()}
    losses, norms = [], []
    for step in range(1, steps + 1):
        loss = sft_loss(c, w, batch, total)
        g = gradients(loss, w)
        norm = math.sqrt(sum(float((x * x).sum()) for x in g.values()))
        scale = min(1.0, ADAMW['grad_clip'] / (norm + 1e-6))
        losses.append(float(loss))
        norms.append(norm)
        with torch.no_grad():
            for name, x in w.items():
                gradient = g[name] * scale
                m[name] = ADAMW['beta1'] * m[name] + (1 - ADAMW['beta1']) * gradient
                v[name] = ADAMW['beta2'] * v[name] + (1 - ADAMW['beta2']) * gradient * gradient
                if x.dim() > 1:
                    x *= 1 - ADAMW['lr'] * ADAMW['weight_decay']
                mean = m[name] / (1 - ADAMW['beta1'] ** step)
                root = (v[name] / (1 - ADAMW['beta2'] ** step)).sqrt()
                x -= ADAMW['lr'] * mean / (root + ADAMW['eps'])
    return dict(params=ADAMW, losses=losses, grad_norms=norms)


def greedy(c, w, prompt, count):
    tokens, margin = list(prompt), math.inf
    with torch.no_grad():
        for _ in range(count):
            top = logits_of(c, w, tokens)[-1].topk(2)
            margin = min(margin, float(top.values[0] - top.values[1]))
            tokens.append(int(top.indices[0]))
    return tokens[len(prompt):], margin


def write(name, c, seed):
    folder = FIXTURES / name
    folder.mkdir(parents=True, exist_ok=True)
    w = random_weights(c, seed)
    (folder / 'config.json').write_text(json.dumps(c, indent=2) + '\n')
    save_tensors(folder / 'model.safetensors', w)
    batch = sequences(seed)
    total = sum(sum(s['loss_mask']) for s in batch)
    rng = numpy.random.default_rng(seed + 1)
    loss = 0
    pushed = dict(clipped=0, lower=0, inside=0)
    for s, advantage in zip(batch, (1.3, -0.8, 0.4, -1.6, 0.9, -0.2)):
        logp, entropy = scores(c, w, s['tokens'])
        s['logprobs'], s['entropies'] = [0] + logp.tolist(), [0] + entropy.tolist()
        warm, warm_entropy = scores(c, w, s['tokens'], TEMPERATURE)
        s['logprobs_temperature'], s['entropies_temperature'] = [0] + warm.tolist(), [0] + warm_entropy.tolist()
        # Ratios on both sides of the clip range, some past the dual clip, none within 1e-3 of an edge.
        difference = rng.choice([-0.5, -0.3, -0.15, -0.05, 0.05, 0.15, 0.35, 0.6, 1.4], len(s['tokens']) - 1)
        s['advantage'] = advantage
        s['old_logprobs'] = [0] + (warm.detach().numpy() - difference).round(6).tolist()
        s['ref_logprobs'] = [0] + (warm.detach().numpy() - rng.normal(0, 0.4, len(difference))).round(6).tolist()
        old, ref = torch.tensor(s['old_logprobs'][1:]), torch.tensor(s['ref_logprobs'][1:])
        loss = loss + (clip_loss(warm, old, ref, advantage, warm_entropy) * torch.tensor(s['loss_mask'][1:])).sum() / total
        for d in difference:
            r = math.exp(d)
            pushed['lower' if advantage < 0 and r > 3 else 'inside' if 0.8 < r < 1.28 else 'clipped'] += 1
    sft = sft_loss(c, w, batch, total)
    save_tensors(folder / 'sft-gradients.safetensors', gradients(sft, w))
    save_tensors(folder / 'grpo-gradients.safetensors', gradients(loss, w))
    tokens, margin = greedy(c, w, batch[0]['tokens'][:12], 100)
    figures = dict(
        sequences=batch, temperature=TEMPERATURE, sft=dict(loss=float(sft)), grpo=dict(config=GRPO, loss=float(loss)),
        adamw=adamw(c, w, batch, total, 20), greedy=dict(prompt=batch[0]['tokens'][:12], tokens=tokens, margin=margin),
    )
    (folder / 'figures.json').write_text(json.dumps(figures) + '\n')
    print(name, 'sft', float(sft), 'grpo', float(loss), 'greedy margin', margin, 'distinct', len(set(tokens)), pushed,
          'losses', figures['adamw']['losses'][0], figures['adamw']['losses'][-1])


if __name__ == '__main__':
    for seed, (name, c) in enumerate(MODELS.items(), 7):
        write(name, c, seed)
