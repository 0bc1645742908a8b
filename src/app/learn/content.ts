/** @file The six lessons. */
import { href, type Query } from '../data/routes.ts';
import type { Examples } from '../data/lessons/examples.ts';
import { at, type Lesson, type LessonPage, type Sight } from '../data/lessons/lesson.ts';
import type { LessonId } from '../data/lessons/titles.ts';

const home = '#/';
/** A page of the recorded run. Without a recorded run: the list of runs. */
const inRun = ({ run }: Examples, to: (run: string) => string) => (run === null ? '#/runs' : to(run));
const recordedRun = (examples: Examples, tab?: Query<'run'>['tab']) => inRun(examples, (run) => href({ name: 'run', run }, tab && { tab }));
const rollout = (examples: Examples, id: string | null | undefined, query: Partial<Query<'rollout'>>) =>
  id ? inRun(examples, (run) => href({ name: 'rollout', run, id }, query)) : recordedRun(examples);
const group = (examples: Examples) => {
  const { mixed } = examples;
  return mixed ? inRun(examples, (run) => href({ name: 'group', run, group: mixed.group })) : recordedRun(examples);
};
const coloured = (ch: Query<'rollout'>['ch']) => (sight: Sight) => at(sight, 'rollout')?.ch === ch;
const play = ({ task }: Examples, as: 'user' | 'agent') =>
  task ? href({ name: 'play', domain: task.domain, task: task.id }, { as }) : home;

const PAGES: Record<LessonId, LessonPage[]> = {
  mask: [
    {
      text: [
        'The model reads a conversation as one sequence of tokens. The sequence contains the policy, the tools, the customer’s messages, the tool results and the agent’s messages.',
        'The model sampled only the agent’s messages. Only these tokens are trained. The mask marks them.',
      ],
      task: 'Open a recorded conversation as the model reads it, coloured by the mask. The legend explains the colours.',
      focus: ['legend'],
      open: (examples) => rollout(examples, examples.rollout, { view: 'rendered', ch: 'mask' }),
      done: (sight) => coloured('mask')(sight) && at(sight, 'rollout')?.view === 'rendered',
    },
    {
      text: ['Dim tokens were given to the model. The loss ignores them, because the agent did not write them.'],
      task: 'Choose a token: click one, or press h or l. A panel shows the values of the token.',
      focus: ['token'],
      done: (sight) => at(sight, 'rollout')?.tok !== null && at(sight, 'rollout') !== null,
    },
    {
      text: [
        'The model gave each sampled token a probability. If the probability was near 1, an update changes the token little.',
        'If the probability was low, the model had other likely tokens to choose from. Such a token may have decided the conversation.',
      ],
      task: 'Colour the tokens by log-probability. A strong colour marks an unlikely token.',
      focus: ['legend'],
      done: coloured('logprob'),
    },
    {
      text: [
        'The reward does not judge the words. At the end, the database is compared with the database that the customer’s task demands. The reward is 1 if both are equal, else 0.',
        'This one number is the only feedback that training gets from the conversation. Find it on this page.',
      ],
      focus: ['reward'],
    },
  ],
  customer: [
    {
      text: [
        'The customer has a wish, personal data and a character. The agent knows none of this at the start. The agent must find out who the customer is before it acts.',
      ],
      task: 'Play as the customer. The page shows your brief.',
      focus: ['brief'],
      open: (examples) => play(examples, 'user'),
      done: (sight) => at(sight, 'play')?.as === 'user',
    },
    {
      text: [
        'Tell the agent what your brief asks for, in small steps. Give your email only when the agent asks for it. Say yes only to changes that you want. Try to change your mind.',
        'Watch what the agent must keep apart: what you said, what the tools returned, and what the agent promised.',
      ],
    },
    {
      text: [
        'Now play as the agent. You fill in the tool calls, and the scripted customer answers. You can make the same mistakes as the model.',
      ],
      task: 'Change sides and play as the agent.',
      open: (examples) => play(examples, 'agent'),
      done: (sight) => at(sight, 'play')?.as === 'agent',
    },
    {
      text: [
        'The domain policy states the agent’s rules. It is the first message that the model reads. The policy demands an explicit yes from the customer before any change. The reward checks only the database.',
      ],
      task: 'Open the domain policy and read it.',
      open: ({ task }) => href({ name: 'world', domain: task?.domain ?? 'retail', tab: 'policy' }),
      done: ({ address: { route } }) => route.name === 'world' && route.tab === 'policy',
    },
  ],
  group: [
    {
      text: [
        'GRPO plays one task several times from the same world. These rollouts form a group. A rollout counts as good if its reward is above the mean of its group.',
      ],
      task: 'Open a group with correct and wrong rollouts. Each column is one rollout.',
      focus: ['group-columns'],
      open: group,
      done: (sight) => at(sight, 'group') !== null,
    },
    {
      text: [
        'Each row is a turn: the agent asks, looks up data, changes data or confirms. Read a correct and a wrong rollout from the top until they differ.',
      ],
      task: 'Pin a correct and a wrong rollout. The page shows them side by side.',
      focus: ['group-columns', 'aligned-pair'],
      open: group,
      done: (sight) => /^[^,]+,[^,]+/.test(at(sight, 'group')?.pin ?? ''),
    },
    {
      text: [
        'The advantage of a rollout is its reward minus the group’s mean, divided by the group’s standard deviation. It is one number for the whole rollout.',
        'So all sampled tokens of a wrong rollout get the same negative advantage, even the useful ones. Only many groups together separate useful tokens from harmful tokens.',
      ],
      task: 'Open the wrong rollout, coloured by advantage. All sampled tokens have the same colour.',
      open: (examples) => rollout(examples, examples.mixed?.wrong ?? examples.rollout, { view: 'rendered', ch: 'advantage' }),
      done: coloured('advantage'),
    },
    {
      text: [
        'If all rollouts of a group are correct, or all are wrong, every advantage is 0. Such a group has no policy gradient, so playing it gives nothing to learn.',
        'The share of mixed groups therefore shows how much a step can learn from. The reward alone does not show this.',
      ],
      task: 'Open the run and read the chart of group outcomes.',
      focus: ['chart-groups'],
      open: (examples) => recordedRun(examples),
      done: (sight) => at(sight, 'run') !== null,
    },
  ],
  update: [
    {
      text: [
        'Pressure is the advantage times (1 − p), where p is the probability of the token. It estimates how strongly the update changes the token. If the model was already sure of the token, the pressure is near 0.',
        'Pressure is an approximation, as the legend says.',
      ],
      task: 'Open a conversation, coloured by pressure.',
      focus: ['legend'],
      open: (examples) => rollout(examples, examples.mixed?.right ?? examples.rollout, { view: 'rendered', ch: 'pressure' }),
      done: coloured('pressure'),
    },
    {
      text: [
        'Pressure estimates the intended change. The real change can differ: all tokens share the same weights, so an update for one token also changes other tokens.',
        'For some groups, the trainer measured the probabilities again after the update. Tokens of other groups have no value. A missing value does not mean “no change”.',
      ],
      task: 'Colour by Δp: the probability after the update minus the probability before.',
      focus: ['legend'],
      done: coloured('delta_p'),
    },
    {
      text: [
        'Two parts of the loss keep an update small. The ratio of new to old probability is clipped. The KL loss adds a cost at each token whose probability moves away from the reference.',
      ],
      task: 'Colour by the importance ratio, or by the KL to the reference.',
      focus: ['legend'],
      done: (sight) => coloured('ratio')(sight) || coloured('kl')(sight),
    },
    {
      text: [
        'One update changes little. Other weights can score the same tokens again. The bundled model nano-retail-grpo has the weights after 40 training steps.',
        'Find tokens that became much more or less likely. At these tokens, training changed the agent most. Scoring needs WebGPU. Without WebGPU, go to the next page.',
      ],
      task: 'Under “Scored by”, choose nano-retail-grpo.',
      focus: ['scored-by', 'legend'],
      done: (sight) => (at(sight, 'rollout')?.by ?? '') !== '',
    },
    {
      text: [
        'Single tokens do not show whether the agent got better. An evaluation does: play the same tasks with the weights from before and after training. Customers and seeds are the same, so the two evaluations are compared trial by trial.',
      ],
      task: 'Open the evaluations.',
      focus: ['eval-form', 'evals-table'],
      open: () => href({ name: 'evals' }),
      done: ({ address: { route } }) => route.name === 'evals' || route.name === 'eval',
    },
  ],
  break: [
    {
      text: ['A link can contain a whole setup. This link makes the learning rate a hundred times larger and turns the KL loss off.'],
      task: 'Open the setup. The page lists the changed settings.',
      focus: ['start', 'changed'],
      open: () => href({ name: 'home' }, { preset: 'tiny', lr: '0.04', use_kl_loss: 'false' }),
      done: (sight) => at(sight, 'home')?.lr !== undefined,
    },
    {
      text: ['This run has five small steps. Training needs WebGPU. Without WebGPU, go to the next page.'],
      task: 'Press “Start training”.',
      focus: ['start'],
      done: ({ activeRun }) => activeRun !== null,
    },
    {
      text: [
        'Compare the charts of entropy and reward. Find out which of them changes first. The KL chart stays at 0, because this run does not use the KL loss.',
        'Then start a run with the preset’s learning rate and compare both runs. Both have the same seed, so their customers are the same.',
      ],
      focus: ['chart-entropy', 'chart-kl', 'chart-reward'],
    },
    {
      text: [
        'Training can also go wrong with a small learning rate. The reward checks only the database. An agent that changes data without asking can earn the same reward as an agent that asks.',
        'Some scripted customers change their mind when the agent asks. Asking pays only with these customers.',
      ],
      task: 'List the rollouts that changed data without asking.',
      focus: ['facet-violation'],
      open: (examples) => inRun(examples, (run) => href({ name: 'rollouts', run }, { violation: 'unconfirmed_write' })),
      done: (sight) => at(sight, 'rollouts')?.violation === 'unconfirmed_write',
    },
  ],
  bigger: [
    {
      text: [
        'The scripted customer is fast and predictable. A language model can play the customer instead. It needs an OpenAI-compatible endpoint, on your machine or at a provider. The API key stays in this tab.',
      ],
      task: 'Open the settings.',
      focus: ['settings-user'],
      open: () => href({ name: 'settings' }),
      done: (sight) => at(sight, 'settings') !== null,
    },
    {
      text: [
        'The button “Test” checks the endpoint and names the problem: no server, an origin that is not allowed, a wrong key, or an unknown model.',
      ],
      task: 'Choose a language model as the customer, or go to the next page.',
      focus: ['settings-user'],
      done: ({ user }) => user === 'endpoint',
    },
    {
      text: [
        'Any Qwen2 or Qwen3 folder in Hugging Face format can be the agent, if it fits into the GPU’s memory. Weights are exported in the same format.',
      ],
      task: 'Open the models.',
      open: () => href({ name: 'models' }),
      done: (sight) => at(sight, 'models') !== null,
    },
    {
      text: [
        'Large models are not trained in a browser tab. Take your setup and data to other tools: the settings have verl’s names, TRL’s names are accepted, and a run exports its metrics and conversations as JSON lines.',
        'The main ideas are the same there: which tokens are trained, what a group shows, and what the reward does not see.',
      ],
      open: (examples) => recordedRun(examples, 'config'),
    },
  ],
};

export const lesson = (id: LessonId): Lesson => ({ id, pages: PAGES[id] });
