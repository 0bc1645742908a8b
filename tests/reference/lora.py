"""Reference figures for LoRA and stored weight formats: PyTorch float64 over the decoder of qwen3.py.

LoRA follows PEFT: W x + lora_alpha / r · B (A x), names and files as `save_pretrained` writes them. bf16 rounds to nearest, ties to
even. int8 and int4: 32 neighbours of a row share the scale absmax / 127 or absmax / 7, rounded to float16; a value is the
nearest multiple of the scale. Norms and biases stay float32.

Usage: python3 tests/reference/lora.py        (writes tests/reference/fixtures/{lora,lora-qwen2}/)
"""
import json

import torch

from qwen3 import BASE, FIXTURES, gradients, random_weights, save_tensors, scores, sequences, sft_loss

TARGETS = ['q_proj', 'k_proj', 'v_proj', 'o_proj', 'gate_proj', 'up_proj', 'down_proj']
SIZES = dict(BASE, hidden_size=64, intermediate_size=96, num_attention_heads=4, num_key_value_heads=2, head_dim=16)
MODELS = {
    'lora': (dict(SIZES, model_type='qwen3', architectures=['Qwen3ForCausalLM'], attention_bias=False), 6, 12, TARGETS),
    'lora-qwen2': (dict(SIZES, model_type='qwen2', architectures=['Qwen2ForCausalLM'], tie_word_embeddings=False), 8, 8,
                   ['q_proj', 'v_proj', 'down_proj']),
}


def adapters(w, rank, targets, seed):
    generator = torch.Generator().manual_seed(seed)
    out = {}
    for name, x in w.items():
        module = name.removesuffix('.weight')
        if module.split('.')[-1] in targets:
            for matrix, shape in (('A', [rank, x.shape[1]]), ('B', [x.shape[0], rank])):
                value = 0.2 * torch.randn(shape, generator=generator)
                out[f'base_model.model.{module}.lora_{matrix}.weight'] = value.float().double().requires_grad_()
    return out


def merged(w, lora, scale):
    out = dict(w)
    for name in lora:
        if name.endswith('.lora_A.weight'):
            module = name.removesuffix('.lora_A.weight')
            target = module.removeprefix('base_model.model.') + '.weight'
            out[target] = w[target] + scale * lora[module + '.lora_B.weight'] @ lora[name]
    return out


def stored(w, form):
    def round_to(x):
        if form == 'bf16':
            return x.to(torch.bfloat16).double()
        largest = dict(int8=127, int4=7)[form]
        groups = x.reshape(-1, 32)
        scale = (groups.abs().amax(1, keepdim=True).float() / largest).half().double()
        return ((groups / scale).round().clamp(-largest, largest) * scale).reshape(x.shape)

    return {name: round_to(x.detach()) if x.dim() > 1 and form != 'f32' else x.detach() for name, x in w.items()}


def write(name, c, rank, alpha, targets, seed):
    folder = FIXTURES / name
    folder.mkdir(parents=True, exist_ok=True)
    w = random_weights(c, seed)
    lora = adapters(w, rank, targets, seed + 1)
    (folder / 'config.json').write_text(json.dumps(c, indent=2) + '\n')
    save_tensors(folder / 'model.safetensors', w)
    save_tensors(folder / 'adapter_model.safetensors', lora)
    (folder / 'adapter_config.json').write_text(json.dumps(dict(
        peft_type='LORA', task_type='CAUSAL_LM', r=rank, lora_alpha=alpha, target_modules=targets, lora_dropout=0.0, bias='none',
        use_rslora=False, use_dora=False, fan_in_fan_out=False, modules_to_save=None, base_model_name_or_path=name), indent=2) + '\n')
    batch = sequences(seed)
    total = sum(sum(s['loss_mask']) for s in batch)
    figures = dict(sequences=batch, formats={})
    for form in ('f32', 'bf16', 'int8', 'int4'):
        base = stored(w, form)
        with_lora = merged(base, lora, alpha / rank)
        loss = sft_loss(c, with_lora, batch, total)
        if form in ('f32', 'int4'):
            save_tensors(folder / f'gradients-{form}.safetensors', gradients(loss, lora))
        figures['formats'][form] = dict(
            loss=float(loss),
            logprobs=[[0] + scores(c, with_lora, s['tokens'])[0].tolist() for s in batch],
            base_logprobs=[[0] + scores(c, base, s['tokens'])[0].tolist() for s in batch],
        )
        print(name, form, 'loss', float(loss), 'largest difference to f32', max(
            abs(a - b) for x, y in zip(figures['formats'][form]['logprobs'], figures['formats']['f32']['logprobs']) for a, b in zip(x, y)))
    (folder / 'figures.json').write_text(json.dumps(figures) + '\n')


if __name__ == '__main__':
    for seed, (name, settings) in enumerate(MODELS.items(), 21):
        write(name, *settings, seed)
