"""Adapters as PEFT writes them, and the weights that PEFT computes from them.

Wraps the model of fixtures/lora with each configuration, sets the adapter to random values, saves it and merges it with PEFT. `merged` has,
for each changed matrix, the sum of its change times 1, 2, 3, … and the sum of its squares, in float64. `refused` has the configurations that
the engine must refuse.

Usage: python3 -m venv V && V/bin/pip install torch==2.7.1 transformers==4.57.6 peft==0.17.1 && V/bin/python tests/reference/peft_adapters.py
(writes tests/reference/fixtures/peft/)
"""
import json
import shutil
import tempfile
from pathlib import Path

import torch
from safetensors import safe_open
from peft import AdaLoraConfig, LoraConfig, VeraConfig, get_peft_model
from transformers import AutoModelForCausalLM

FIXTURES = Path(__file__).parent / 'fixtures'
TWO = ['q_proj', 'down_proj']
SUPPORTED = {
    'rslora': dict(r=3, lora_alpha=5, use_rslora=True, target_modules=TWO),
    'regex': dict(r=2, lora_alpha=4, target_modules=r'.*layers\.0\.(self_attn\.v|mlp\.up)_proj'),
    'one-layer': dict(r=2, lora_alpha=3, target_modules=['o_proj', 'mlp.gate_proj'], layers_to_transform=[1], layers_pattern='layers'),
    'excluded': dict(r=2, lora_alpha=8, target_modules='all-linear', exclude_modules=['mlp.gate_proj', 'up_proj', 'down_proj', 'q_proj']),
    'gaussian': dict(r=2, lora_alpha=2, target_modules=TWO, init_lora_weights='gaussian', lora_dropout=0.1),
    'pattern-without-effect': dict(r=2, lora_alpha=2, target_modules=TWO, rank_pattern={'k_proj': 8}, alpha_pattern={'down_proj': 2}),
}
REFUSED = {
    'rank_pattern': dict(r=4, target_modules=TWO, rank_pattern={'q_proj': 2}),
    'alpha_pattern': dict(r=4, target_modules=TWO, alpha_pattern={r'.*layers\.0\.mlp\.down_proj': 2}),
    'use_dora': dict(r=2, target_modules=TWO, use_dora=True),
    'bias': dict(r=2, target_modules=TWO, bias='lora_only'),
    'lora_bias': dict(r=2, target_modules=TWO, lora_bias=True),
    'init_lora_weights pissa': dict(r=2, target_modules=TWO, init_lora_weights='pissa'),
    'init_lora_weights pissa_niter_4': dict(r=2, target_modules=TWO, init_lora_weights='pissa_niter_4'),
    'init_lora_weights olora': dict(r=2, target_modules=TWO, init_lora_weights='olora'),
    'modules_to_save': dict(r=2, target_modules=TWO, modules_to_save=['lm_head']),
    'trainable_token_indices': dict(r=2, target_modules=TWO, trainable_token_indices=[1, 2]),
    'tensor lm_head': dict(r=2, target_modules=['q_proj', 'lm_head']),
    'tensor embed_tokens': dict(r=2, target_modules=['q_proj', 'embed_tokens']),
}


def model():
    # In the folder of the fixture, transformers would also load its adapter.
    with tempfile.TemporaryDirectory() as folder:
        for name in ('config.json', 'model.safetensors'):
            shutil.copy(FIXTURES / 'lora' / name, folder)
        return AutoModelForCausalLM.from_pretrained(folder, torch_dtype=torch.float32)


def saved(config, folder, seed):
    wrapped = get_peft_model(model(), config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in wrapped.named_parameters():
            if 'lora_' in name:
                parameter.copy_(0.2 * torch.randn(parameter.shape, generator=generator))
    wrapped.save_pretrained(folder, save_embedding_layers=False)
    (Path(folder) / 'README.md').unlink()
    path = Path(folder) / 'adapter_config.json'
    written = json.loads(path.read_text())
    written['base_model_name_or_path'] = 'lora'
    path.write_text(json.dumps(dict(sorted(written.items())), indent=2) + '\n')
    return wrapped, written


def figures(before, after):
    found = {}
    for name, weight in after.state_dict().items():
        change = (weight.double() - before[name].double()).flatten()
        if change.abs().max() > 0:
            found[name] = [float((change * torch.arange(1, len(change) + 1)).sum()), float(change.square().sum())]
    return found


def main():
    out = FIXTURES / 'peft'
    merged, refused = {}, {}
    for seed, (name, settings) in enumerate(SUPPORTED.items(), 31):
        wrapped, _ = saved(LoraConfig(task_type='CAUSAL_LM', **settings), out / name, seed)
        merged[name] = figures(model().state_dict(), wrapped.merge_and_unload())
        print(name, sorted(merged[name]))
    with tempfile.TemporaryDirectory() as folder:
        for name, settings in REFUSED.items():
            wrapped, written = saved(LoraConfig(task_type='CAUSAL_LM', **settings), Path(folder) / name.replace(' ', '-'), 1)
            with safe_open(Path(folder) / name.replace(' ', '-') / 'adapter_model.safetensors', 'pt') as file:
                refused[name] = dict(config=written, tensors={key: list(file.get_slice(key).get_shape()) for key in file.keys()})
        others = VeraConfig(r=2, target_modules=['q_proj']), AdaLoraConfig(init_r=2, target_modules=TWO, total_step=9)
        for name, config in zip(('peft_type VERA', 'peft_type ADALORA'), others):
            refused[name] = dict(config=json.loads(json.dumps({**config.to_dict(), 'peft_type': name.split()[1]}, default=sorted)), tensors={})
    (out / 'merged.json').write_text(json.dumps(merged, indent=1) + '\n')
    (out / 'refused.json').write_text(json.dumps(refused) + '\n')


if __name__ == '__main__':
    main()
