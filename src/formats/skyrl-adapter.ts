/** @file The folder with which SkyRL trains: an environment of skyrl-gym, and the settings as overrides. */
import { type AdapterInput, dataset, readme } from './adapter-input.ts';
import { VERSIONS } from './engines.ts';
import { serverEpisode } from './server-episode.ts';

/** The settings that SkyRL has too, with their paths in SkyRL's configuration. */
const SKYRL = [
  ['n', 'generator.n_samples_per_prompt'],
  ['max_turns', 'generator.max_turns'],
  ['max_model_len', 'generator.max_input_length'],
  ['response_length_one_turn', 'generator.sampling_params.max_generate_length'],
  ['temperature', 'generator.sampling_params.temperature'],
  ['top_p', 'generator.sampling_params.top_p'],
  ['train_batch_size', 'trainer.train_batch_size'],
  ['lr', 'trainer.policy.optimizer_config.lr'],
] as const;

export function skyrl(input: AdapterInput): Record<string, string> {
  const { config, model, rows, title, url, validation } = input;
  const columns = { env_class: 'mua' };
  const overrides = [
    `trainer.policy.model.path="${model}"`,
    'environment.env_class=mua',
    ...SKYRL.map(([name, path]) => `${path}=${config[name]}`),
  ];
  return {
    'mua_server.py': serverEpisode(url),
    'mua_env.py': `"""${title} as an environment of skyrl-gym: the server plays the customer and the tools, and says the reward."""

import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

from mua_server import SERVER, Episode


class MuaEnv(BaseTextEnv):
    def __init__(self, env_config=None, extras=None):
        super().__init__()
        self.row, self.episode = extras["extra_info"], Episode()

    def init(self, prompt):
        """The prompt of the server replaces the one of the row."""
        first = self.episode.reset(self.row["task_id"], self.row["seed"])
        return first["messages"], {"tools": first["tools"]}

    def step(self, action):
        seen = self.episode.step({"content": action})
        if self.episode.reward is None:
            # SkyRL has no rollout without a reward.
            raise ConnectionError(f"the episode {self.row['task_id']} ended without a score: {self.episode.error or SERVER}")
        done = self.episode.done
        message = {"role": "tool" if seen["role"] == "tool" else "user", "content": seen["content"]}
        observations = [] if done else [message]
        return BaseTextEnvStepOutput(observations=observations, reward=float(self.episode.reward), done=done, metadata={})

    def close(self):
        self.episode.close()


skyrl_gym.register(id="mua", entry_point="mua_env:MuaEnv")
`,
    'rows.jsonl': dataset(input, rows, columns),
    'validation.jsonl': dataset(input, validation, columns),
    'overrides.txt': `${overrides.join('\n')}\n`,
    'README.md': readme(
      'SkyRL',
      input,
      [
        `pip install "skyrl-gym==${VERSIONS.skyrlGym}" "openenv==${VERSIONS.openenv}"`,
        'PYTHONPATH=. python -c "import mua_env, skyrl_gym; print(skyrl_gym.spec(\'mua\'))"',
      ],
      [
        'Import `mua_env` in your entry point before SkyRL starts, and give the rows and the lines of `overrides.txt` to SkyRL. SkyRL reads Parquet: `pandas.read_json(…, lines=True).to_parquet(…)` writes it.',
        'The environment sees words only. So the token limits are in `overrides.txt`: a turn that SkyRL cuts is still played.',
        'The first observation replaces the prompt of the row. The tools are in the metadata that `init` returns (`tools`): give them to the chat template.',
        'If the server or the customer fails, `step` raises an error that names the server. No rollout gets the reward 0 for it.',
      ],
      new Set(SKYRL.map(([name]) => name)),
    ),
  };
}
