/** @file The lessons. They show moments of the recorded runs; tests/unit/app/learn.test.ts reads the runs and checks each moment. */
import type { Lesson, LessonStep } from '../lessons/lesson.ts';
import { recorded, recordedTimeouts as timeouts } from '../library/recorded-moments.ts';
import type { LessonId } from '../lessons/titles.ts';
import { href } from '../routes/routes.ts';

const { beforeAfter, group, rollout, run, token, trial } = recorded;
/** A group of the run with timeouts: only the rollouts with both skills are correct. `scripts/record-run.mts` prints such a group. */
const JOINED = '4-0';

const failing = (failure: string, answer = '') => href({ name: 'failing', failure }, { answer });
const ablation = href({ name: 'experiment', experiment: 'ablation' });

const STEPS: Record<LessonId, LessonStep[]> = {
  episode: [
    {
      where: 'rollout 1-0-0, the first message',
      open: rollout('1-0-0', { turn: 1 }),
      text: [
        'An episode is one conversation. A simulated customer has a wish. The agent is the language model: it answers the customer and calls tools.',
        'The agent does not know the wish. It sees only what the customer writes: “I want to cancel an order.”',
      ],
      predict: {
        question: 'What does the agent do first?',
        show: ['messages'],
        choices: ['It cancels the newest order.', 'It asks who the customer is.', 'It reads all orders of the shop.'],
        answer: 1,
        why: ['The policy demands that the agent first finds the customer, by email or by name and zip. No tool lists all orders.'],
        reveal: { open: rollout('1-0-0', { turn: 3 }) },
      },
    },
    {
      where: 'rollout 1-0-0, the first tool call',
      open: rollout('1-0-0', { turn: 7 }),
      text: [
        'The agent acts through tool calls. A call is text in a fixed format: the name of the tool and its arguments.',
        'The environment runs the tool. Its result is the next message. Here the result is the id of the customer.',
      ],
    },
    {
      where: 'rollout 1-0-0 as the model reads it',
      open: rollout('1-0-0', { view: 'rendered', turn: 3 }),
      text: [
        'The model reads the whole conversation as one sequence of tokens: the policy, the tools, the customer’s messages, the tool results and its own messages.',
      ],
      predict: {
        question: 'This sequence has 646 tokens. How many of them did the agent sample?',
        show: ['messages'],
        choices: ['115', '323', 'All 646'],
        answer: 0,
        why: [
          'The agent sampled 115 tokens. They have a colour. Only these tokens are trained. The others were given to the model, so the loss ignores them.',
        ],
        reveal: { open: token('1-0-0', 236, 'mask') },
      },
    },
    {
      where: 'rollout 1-0-0, token 236',
      open: token('1-0-0', 236, 'logprob'),
      text: [
        'The agent samples each token from the probabilities that the model gives. For this token, “What” had 49 % and “Your” had 51 %.',
        'Most tokens have a probability near 100 %. A strong colour marks a token with a low probability. At such a token, the agent had a choice.',
      ],
    },
    {
      where: 'rollout 1-0-0, the last message',
      open: rollout('1-0-0', { turn: 37 }),
      text: [
        'The customer ends the episode with ###STOP###. Now the whole episode gets one reward. The next lesson shows how.',
        'An episode that is played for training is called a rollout.',
      ],
    },
  ],

  reward: [
    {
      where: 'rollout 1-0-0, the database after call 4',
      open: rollout('1-0-0', { turn: 33, call: 3 }),
      text: [
        'The reward compares two databases: the one at the end of the episode, and the one that the customer’s wish demands. The reward is 1 if both are equal, else 0.',
        'Call 4 changed one order. The database panel shows each changed field next to the goal.',
      ],
    },
    {
      where: 'rollout 1-0-2, “That is done”',
      open: rollout('1-0-2', { turn: 27 }),
      text: [
        'This is the same customer in another rollout. The agent cancelled the order without asking, and says: “That is done.” Then the customer wants to pay with PayPal instead.',
      ],
      predict: {
        question: 'What is the reward of this rollout?',
        show: ['messages'],
        choices: ['1, because the agent did what the customer first asked for', '0', '0.5, because half of the work is done'],
        answer: 1,
        why: [
          'The order is cancelled, and no tool can undo this. The goal is a pending order that is paid with PayPal. So the reward is 0.',
          'The reward checks only the database, not the words. So “That is done” does not help.',
        ],
        reveal: { open: rollout('1-0-2', { turn: 25, call: 3 }) },
      },
    },
    {
      where: 'rollout 9-0-0, a write without a question',
      open: rollout('9-0-0', { turn: 23 }),
      text: ['The policy demands a yes from the customer before each change. Here the agent changes the payment without asking.'],
      predict: {
        question: 'What is the reward of this rollout?',
        show: ['messages'],
        choices: ['0, because the agent broke the policy', '1'],
        answer: 1,
        why: [
          'The database is as the customer wants it, so the reward is 1. The page lists the violation, but the violation does not change the reward.',
          'A setting can subtract a price from the reward for such writes. In this run, the setting is off.',
        ],
        reveal: { open: rollout('9-0-0', {}), focus: ['reward'] },
      },
    },
    {
      where: 'a trial with an order that is already delivered',
      open: trial('after', 'eval-38-0', { turn: 23 }),
      text: [
        'This customer wants to cancel an order that is already delivered. The policy forbids this. The agent refuses, and changes nothing.',
      ],
      predict: {
        question: 'What is the reward?',
        show: ['messages'],
        choices: ['0, because nothing was done', '1'],
        answer: 1,
        why: [
          'The goal is an unchanged database, so the reward is 1. Two of the 48 tasks of this evaluation are of this kind.',
          'An agent that refuses everything would solve these two tasks. Therefore the report of an evaluation counts such tasks.',
        ],
        reveal: { open: trial('after', 'eval-38-0', {}), focus: ['reward'] },
      },
    },
  ],

  group: [
    {
      where: 'group 1-0',
      open: group('1-0'),
      focus: ['group-picture'],
      text: [
        'GRPO plays one task several times from the same start. These rollouts form a group. In this group, 3 of 8 rollouts have reward 1, so the mean reward is 0.375.',
        'The advantage of a rollout is its reward minus the mean of the group, divided by the standard deviation of the group.',
      ],
      predict: {
        question: 'Which tokens does the update make more likely?',
        show: ['group-task'],
        choices: [
          'The sampled tokens of all eight rollouts',
          'The sampled tokens of the three correct rollouts',
          'Only the token that decided the outcome',
        ],
        answer: 1,
        why: [
          'The advantage is +1.21 for a correct rollout and −0.72 for a wrong one. It is one number per rollout: each sampled token gets the same advantage, useful or not.',
          'Training needs many groups to separate useful tokens from harmful tokens.',
        ],
      },
    },
    {
      where: 'group 1-0, turn by turn',
      open: group('1-0'),
      focus: ['group-columns'],
      text: ['Each column is a rollout, each row is a turn. Rollout 1-0-0 is correct, rollout 1-0-2 is wrong. Their customer is the same.'],
      predict: {
        question: 'Where do these two rollouts first differ?',
        show: ['group-task'],
        choices: ['At the greeting', 'When the order is known: one asks for a yes, the other cancels', 'At the goodbye'],
        answer: 1,
        why: [
          'The first five moves are the same. Then rollout 1-0-0 asks for a yes. When the customer is asked, she changes her mind in time. Rollout 1-0-2 cancels the order, and cannot undo this.',
        ],
        reveal: { open: group('1-0', { pin: '1-0-0,1-0-2', shared: '1' }), focus: ['first-difference'] },
      },
    },
    {
      where: 'group 5-0',
      open: group('5-0'),
      focus: ['group-picture'],
      text: ['In this group, seven rollouts are correct and one is wrong.'],
      predict: {
        question: 'Which advantage has the larger absolute value?',
        show: ['group-task'],
        choices: ['That of the wrong rollout', 'That of each correct rollout', 'All have the same absolute value'],
        answer: 0,
        why: [
          'The advantage of the wrong rollout is −2.47, that of each correct rollout is +0.35. The advantages of a group have the sum 0, so a rare outcome gets a large advantage.',
          'The next lesson shows what this does to the tokens of the wrong rollout.',
        ],
      },
    },
    {
      where: 'group 21-0',
      open: group('21-0'),
      focus: ['group-picture'],
      text: ['Here all eight rollouts are correct.'],
      predict: {
        question: 'What is their advantage?',
        show: ['group-task'],
        choices: ['+1 each', '0 each', 'It cannot be computed'],
        answer: 1,
        why: [
          'No rollout is above the mean, so each advantage is 0. The group has no gradient: the update learns nothing from eight conversations.',
        ],
      },
    },
    {
      where: 'the group outcomes of the run',
      open: run,
      focus: ['chart-groups'],
      text: [
        'A group with correct and wrong rollouts is mixed. The share of mixed groups says how much a step can learn from.',
        'In steps 1 to 5, 32 of 40 groups were mixed. In steps 36 to 40, 23 of 40 were mixed: the agent solves more tasks, so fewer groups teach it something.',
      ],
    },
  ],

  update: [
    {
      where: 'rollout 5-0-2, token 263',
      open: token('5-0-2', 263, 'advantage'),
      text: [
        'This is the wrong rollout of group 5-0. The customer is Paul Chavez. The agent searches for “aul”: it sampled the token “a”, which had a probability of 0.3 %, instead of “Pa”, which had 98 %. The search fails, and so does the episode.',
        'The colour is the advantage. All 226 sampled tokens have the same: −2.47.',
      ],
      predict: {
        question: 'The update makes these tokens less likely. Which token loses the most probability?',
        show: ['messages'],
        choices: ['The mistake, which had 0.3 %', 'A token that had almost 100 %', 'A token in between, which had 76 %'],
        answer: 2,
        why: [
          'The token “ I” fell from 76 % to 29 %: Δp is −0.47. Inside a tool call, it begins the nonsense text “ I cannot do that”.',
          'A token with 0.3 % has little probability to lose. A token near 100 % has almost no gradient, because its gradient is proportional to 1 − p.',
        ],
        reveal: { open: token('5-0-2', 452, 'delta_p'), focus: ['token'] },
      },
    },
    {
      where: 'rollout 5-0-2, token 608',
      open: token('5-0-2', 608, 'advantage'),
      text: ['Token 608 calls a wrong tool. Its advantage is −2.47 too, so the loss pushes its probability down.'],
      predict: {
        question: 'Can this token become more likely in the update?',
        show: ['messages'],
        choices: ['No, its advantage is negative', 'Yes'],
        answer: 1,
        why: [
          'Its probability rose from 42 % to 60 %: Δp is +0.18. All tokens share the same weights, so a push on other tokens also changes this one.',
          'The probabilities of all tokens at one position have the sum 1. If the alternatives of a token fall more than the token, it rises.',
        ],
        reveal: { open: token('5-0-2', 608, 'delta_p'), focus: ['token'] },
      },
    },
    {
      where: 'rollout 5-0-0, token 431',
      open: token('5-0-0', 431, 'logprob'),
      text: [
        'This is a correct rollout of the same group. Token 431 decides what the agent does: “Cancel” begins a question to the customer and had 64 %. “<tool_call>” would begin a write without asking and had 36 %. The advantage is +0.35.',
      ],
      predict: {
        question: 'By how much does the update raise “Cancel”?',
        show: ['messages'],
        choices: ['By about 3 points', 'By about 30 points', 'Not at all'],
        answer: 0,
        why: [
          'Δp is +0.026, the largest change in this rollout. One update does little.',
          'Forty updates do more: on held-out tasks the share of writes with the customer’s yes rose from 49 % to 89 %.',
        ],
        reveal: { open: token('5-0-0', 431, 'delta_p'), focus: ['token'] },
      },
    },
    {
      where: 'rollout 5-0-2, token 608, coloured by KL',
      open: token('5-0-2', 608, 'kl'),
      focus: ['token'],
      text: [
        'Two parts of the loss keep updates small. The KL term adds a cost where the probability moves away from that of the model before training. Token 608 had a probability of 9 % before training, and has 42 % at step 5.',
        'The second part clips the ratio of the new to the old probability.',
      ],
      predict: {
        question: 'This run makes one update per step, with the weights that sampled the tokens. What is the ratio of each token?',
        show: ['messages'],
        choices: ['Exactly 1', 'Between 0.8 and 1.2', 'Below 1 for a wrong rollout'],
        answer: 0,
        why: [
          'New and old weights are the same when the loss is computed, so the ratio is 1 and nothing is clipped. Clipping matters from the second update of a step on.',
        ],
        reveal: { open: token('5-0-2', 608, 'ratio'), focus: ['token'] },
      },
    },
  ],

  wrong: [
    {
      where: 'the KL of the recorded run',
      open: run,
      focus: ['chart-kl', 'chart-entropy'],
      text: [
        'First see a run that works. KL says how far the agent moved from the model before training. Here KL stays below 0.04 nats in all 40 steps.',
        'Entropy says how undecided the agent is. Here entropy stays between 0.02 and 0.06 nats. The next five runs failed.',
      ],
    },
    {
      where: 'failed run 1',
      open: failing('high-learning-rate'),
      focus: ['failure-charts'],
      text: [
        'KL grows from 0.37 nats at step 2 to 6.6 at step 16. Entropy grows from 0.08 to 0.74 nats at step 6. From step 2 on, at most 19 % of the rollouts are correct.',
      ],
      predict: {
        question: 'Which setting is wrong?',
        show: ['failure-charts'],
        choices: ['The learning rate is too high', 'The group is too small', 'The reward pays for length'],
        answer: 0,
        why: [
          'One update moved the model so far that no rollout of step 2 was correct. From step 9 on, no group is mixed, so training cannot repair the model.',
          'Lower the learning rate, and start again from the last good checkpoint. KL is the first chart that shows this failure.',
        ],
        reveal: { open: failing('high-learning-rate', '1'), focus: ['failure-answer'] },
      },
    },
    {
      where: 'failed run 2',
      open: failing('price-on-length-alone'),
      focus: ['failure-charts'],
      text: [
        'The mean reward rises from −0.52 in the first five steps to −0.44 in the last five. Entropy does not change. But violations per write rise from 0.69 to 0.98.',
      ],
      predict: {
        question: 'What did the agent learn?',
        show: ['failure-charts'],
        choices: [
          'To serve customers faster and as well',
          'To write without asking, because a question makes the conversation longer',
          'Nothing',
        ],
        answer: 1,
        why: [
          'The reward pays only for short conversations, so the agent learns to be short. This is called reward hacking: the reward rises, and what you want falls.',
          'Let the outcome in the database count most, put a price on writes without the customer’s yes, and train with customers who change their mind.',
        ],
        reveal: { open: failing('price-on-length-alone', '1'), focus: ['failure-answer'] },
      },
    },
    {
      where: 'failed run 3',
      open: failing('greedy-rollouts'),
      focus: ['failure-charts'],
      text: [
        'No group of this run is mixed. So no update happened, and KL and entropy were never measured. Half or more of the rollouts are correct at each step, so the tasks are not too hard.',
      ],
      predict: {
        question: 'Why is no group mixed?',
        show: ['failure-charts'],
        choices: ['The rollouts of a group are equal', 'The customers are too easy', 'The advantages are clipped'],
        answer: 0,
        why: [
          'The temperature is 0: the agent always takes the most likely token, so the eight rollouts of a group are the same. Sample at temperature 1.',
          'The same chart also shows if tasks are too easy or too hard. In this case, use other tasks, or larger groups.',
        ],
        reveal: { open: failing('greedy-rollouts', '1'), focus: ['failure-answer'] },
      },
    },
    {
      where: 'failed run 4',
      open: failing('own-successes-alone'),
      focus: ['failure-charts'],
      text: [
        'The reward swings between 0.17 and 0.96. The gradient norm jumps to 4 at step 11. At step 10, a token limit cut 42 % of the conversations.',
      ],
      predict: {
        question: 'In this run, the model learns to imitate its own successful conversations. What is wrong?',
        show: ['failure-charts'],
        choices: ['Too many passes over the same few successes', 'The reward is wrong', 'The simulated customer fails'],
        answer: 0,
        why: [
          'Three passes with a high learning rate fit a few conversations too closely, and other conversations become worse. The charts swing before the reward stays low.',
          'Take one pass, lower the learning rate, or use more tasks per update.',
        ],
        reveal: { open: failing('own-successes-alone', '1'), focus: ['failure-answer'] },
      },
    },
    {
      where: 'failed run 5',
      open: failing('pretrained-high-rate'),
      focus: ['failure-charts'],
      text: [
        'This run trains adapters of SmolLM2-135M, a pretrained model. Half of the rollouts of step 1 are correct. In steps 2 and 3, none is. At step 2, the agent writes “Pay order #W2882 paypal. Pay paypal.Paypayorder_PayorderPayorderPayorder”, and so on until a token limit cuts it.',
      ],
      predict: {
        question: 'What would happen if the run went on?',
        show: ['failure-charts'],
        choices: [
          'The agent would recover in a few steps',
          'Nothing: no update would change the agent',
          'The agent would write even longer texts',
        ],
        answer: 1,
        why: [
          'All rewards are 0, so no group is mixed, every advantage is 0, and the gradient is 0. One update was enough to break the agent.',
          'The alarm “The agent no longer succeeds” ended this run after step 3. Start again with a lower learning rate that rises slowly.',
        ],
        reveal: { open: failing('pretrained-high-rate', '1'), focus: ['failure-answer'] },
      },
    },
  ],

  customer: [
    {
      where: 'a trial before training',
      open: trial('before', 'eval-7-0', { turn: 15 }),
      text: ['Maria Evans asked to cancel an order. The agent before training cancels it at once, without a question.'],
      predict: {
        question: 'What happens next?',
        show: ['messages'],
        choices: ['She says thanks and leaves', 'She changes her mind and wants to pay with PayPal instead', 'The tool refuses the call'],
        answer: 1,
        why: [
          'This customer changes her mind when she is asked, or when she hears that the order is cancelled. Here the agent did not ask, so she changes her mind too late, and the reward is 0.',
        ],
        reveal: { open: trial('before', 'eval-7-0', { turn: 21 }) },
      },
    },
    {
      where: 'the same customer before and after training',
      open: beforeAfter(7),
      focus: ['first-difference'],
      text: [
        'Both sides have the same customer and the same seed. After 40 steps the agent asks: “Yes or no?” The customer changes her mind in time, and the reward is 1.',
        'Of the 26 held-out customers who change their mind, 11 were served correctly before training and 22 after. Of the 22 other customers, 20 were served correctly before training and 21 after. So the agent now asks, as one of its two demonstrators did.',
      ],
    },
    {
      where: 'a trial with a customer who withholds',
      open: trial('after', 'eval-13-0', { turn: 1 }),
      text: ['Victor Haddad tells only what he is asked. His first message is: “Please change the payment of an order.”'],
      predict: {
        question: 'How many questions does the agent ask before it writes?',
        show: ['messages'],
        choices: ['One', 'Two', 'Three'],
        answer: 2,
        why: [
          'It asks three questions: who he is, which order and payment method he means, and whether he agrees. Between these questions, it looks up facts in the database.',
        ],
        reveal: { open: trial('after', 'eval-13-0', { turn: 23 }) },
      },
    },
    {
      where: 'another customer before and after training',
      open: beforeAfter(45),
      focus: ['first-difference'],
      text: [
        'Grace Kovacs also tells only what she is asked, and she has two wishes. Before training, the agent says that the order is not hers, without reading the order. After training, it reads the order, asks for a yes, and then asks for the second wish.',
        'One pair proves little. The lesson “Reading a result honestly” shows how to judge all pairs together.',
      ],
    },
    {
      where: 'the agent’s place in a conversation',
      open: href({ name: 'play', domain: 'retail', task: 'retail/nano/heldout/1/7' }, { as: 'agent' }),
      text: [
        'Now serve Maria Evans yourself. You play the agent: you write messages or fill in tool calls, and the scripted customer answers.',
        'Try both ways: cancel at once, and ask first.',
      ],
    },
  ],

  tools: [
    {
      where: 'rollout 5-0-0, the second tool call',
      open: rollout('5-0-0', { turn: 7 }),
      text: [
        'The agent serves Paul Chavez with four calls: find the customer, read his details, read the order, cancel the order. Each call needs an id.',
      ],
      predict: {
        question: 'Where does the agent get the id “paul_chavez_4270” from?',
        show: ['message'],
        choices: ['From the customer’s message', 'From the result of the first call', 'From its weights'],
        answer: 1,
        why: [
          'The first call searched by name and zip, and returned the id. The model copies it token by token into the next call. Most of what a small model must learn is such copying.',
        ],
        reveal: { open: rollout('5-0-0', { turn: 5 }) },
      },
    },
    {
      where: 'rollout 5-0-2, a failed search',
      open: rollout('5-0-2', { turn: 5 }),
      text: [
        'This is another rollout of the same task. One wrong token turned “Paul” into “aul”, and the tool answers: “Error: user not found”.',
      ],
      predict: {
        question: 'What does this agent do next?',
        show: ['messages'],
        choices: ['It asks the customer for the name again', 'It invents an id', 'It transfers the customer to a human'],
        answer: 1,
        why: [
          'It calls get_user_details with the id “davidul”, which does not exist, and with arguments that the tool does not have. To ask for the name again would have helped.',
        ],
        reveal: { open: rollout('5-0-2', { turn: 7 }) },
      },
    },
    {
      where: 'rollout 5-0-2, a malformed call',
      open: rollout('5-0-2', { turn: 21 }),
      text: [
        'A call without its closing tag is malformed. The environment does not guess: it returns an error, and the agent may try again. This rollout has seven malformed calls.',
      ],
    },
    {
      where: 'rollout 5-0-2, the last answer',
      open: rollout('5-0-2', { turn: 59 }),
      text: ['At the end the agent says: “That is done. Anything else?”'],
      predict: {
        question: 'How many rows of the database did this conversation change?',
        show: ['message'],
        choices: ['None', 'One', 'Five'],
        answer: 0,
        why: [
          'Each of its five calls failed, so no row changed. Saying that something is done does not do it. A metric counts such false claims, and an alarm warns if they become frequent.',
        ],
        reveal: { open: rollout('5-0-2', { turn: 57, call: 4 }) },
      },
    },
    {
      where: 'rollout 5-0-0, the database after the write',
      open: rollout('5-0-0', { turn: 21, call: 3 }),
      text: [
        'In rollout 5-0-0, the last call changed the database. The panel shows the fields before and after this call, and the goal.',
        'The world itself never changes. The changes are stored in a layer above the world, which belongs to the episode. So all rollouts of a group begin with the same database, and their rewards can be compared.',
      ],
    },
  ],

  honest: [
    {
      where: 'the evaluations before and after training',
      open: beforeAfter(),
      focus: ['difference'],
      text: [
        'The weights before and after training served the same 48 held-out tasks. Success rose from 65 % to 90 %: 13 trials were gained, 1 was lost. The difference is 25 points, with a 95 % interval from 1 to 43.',
      ],
      predict: {
        question: 'What does this interval cover?',
        show: [],
        choices: [
          'What another training run with another seed would gain',
          'How much these two sets of weights would differ on other tasks of this kind',
          'The error of the GPU',
        ],
        answer: 1,
        why: [
          'The interval comes from the customers of the 48 tasks: it says how much the choice of the customers matters. But this is only one run. Another seed trains other weights, and may gain less or more.',
        ],
      },
    },
    {
      where: 'the reward of the recorded run',
      open: run,
      focus: ['chart-reward'],
      text: ['The chart of the reward has two lines: one on the tasks of training, and one on 200 held-out tasks.'],
      predict: {
        question: 'Which line shows how well the agent serves new customers?',
        show: [],
        choices: ['The training line', 'The held-out line', 'The mean of both'],
        answer: 1,
        why: [
          'All evaluations have the same 200 tasks, from worlds that training never visits. A step of training has only 8 tasks. Here success rose from 65 % to 83 %. The previous step showed 90 %. That was measured on 48 tasks, and its interval, 72 to 98 %, contains 83 %.',
        ],
      },
    },
    {
      where: 'the bundled experiment, its figures',
      open: ablation,
      focus: ['figures'],
      text: [
        'An experiment trains each variant with several seeds. Here GRPO gains 25.0 points (95 % interval 16.0 to 34.0, 5 seeds).',
        'With customers who never change their mind, the share of writes with the customer’s yes changes by +0.6 points (−5.0 to 6.2).',
      ],
      predict: {
        question: 'What may you conclude from +0.6 (−5.0 to 6.2)?',
        show: ['figures'],
        choices: [
          'The agent asks a little more often',
          'No change is shown, because the interval contains 0',
          'It is proved that nothing changes',
        ],
        answer: 1,
        why: [
          'The data fit a small rise, a small fall and no change. They do not fit a rise of 37.8 points, which GRPO reaches with customers who change their mind. The difference from GRPO is −37.2 points (−47.7 to −26.7). So the agent asks more often because of customers who change their mind.',
        ],
      },
    },
    {
      where: 'the bundled experiment, its comparisons',
      open: ablation,
      focus: ['comparisons'],
      text: [
        'Here rejection sampling differs from GRPO by +11.0 points (95 % interval 6.1 to 16.0, 5 seeds). The interval is above 0. But rejection sampling makes two to four updates per step, and GRPO makes one. With one update, the difference is +2.7 points (−3.9 to 9.3).',
        'GRPO with three updates per step differs from GRPO by −5.8 points (95 % interval −24.8 to 13.1). The interval contains 0, so no difference is shown.',
      ],
      predict: {
        question: 'Somebody trains each variant once, and GRPO with three updates wins. What is wrong with this result?',
        show: ['comparisons'],
        choices: ['Nothing, higher is better', 'One seed cannot separate the variant from chance', 'The tasks were too easy'],
        answer: 1,
        why: [
          'The seeds of this variant differ so much that its interval is 38 points wide. With one seed, no interval over seeds can be computed.',
          'These results hold for this small world. They do not show that rejection sampling is better everywhere.',
        ],
      },
    },
    {
      where: 'the bundled experiment, its comparisons',
      open: ablation,
      focus: ['comparisons'],
      text: [
        'Ask five questions about a result. Were the tasks held out? How many tasks, and how wide is the interval? How many seeds? Is the comparison with the best simple baseline? How many variants were tried?',
        'Of twenty comparisons without any difference, about one interval misses 0 by chance. So a difference is called “shown” only after Holm’s correction for all comparisons of the table. And a result holds only for its world: here 95 % of the customers change their mind.',
      ],
    },
  ],

  skills: [
    {
      where: 'rollout 1-3-0, “Done” after a timeout',
      open: timeouts.rollout('1-3-0', { turn: 11 }),
      text: [
        'In this shop, a tool call may be answered by “Error: timeout, perhaps not done”. Two demonstrators taught the model, and each has one skill. The careful one asks for a yes before each change, but claims success after a timeout. The brisk one never asks, but calls again after a timeout. Only 1.8 % of their conversations show both skills.',
        'This is the first step of training. Here the agent acts like the careful demonstrator: it asks, meets a timeout, and says: “Done.”',
      ],
      predict: {
        question: 'What is the reward of this rollout?',
        show: ['messages'],
        choices: ['1, because the agent asked and then made the change', '0'],
        answer: 1,
        why: [
          'The call was lost: the order is as before, so the reward is 0.',
          'Half of the calls that time out are carried out all the same, and half are lost. The agent cannot see which. A second call is right in both cases: if the first call was carried out, the second one changes nothing.',
        ],
        reveal: { open: timeouts.rollout('1-3-0', {}), focus: ['reward'] },
      },
    },
    {
      where: 'rollout 1-5-0, a second call',
      open: timeouts.rollout('1-5-0', { turn: 11 }),
      text: [
        'Here the agent acts like the brisk demonstrator: it cancels the order without a question. After the timeout it calls again. The answer shows that the first call was carried out.',
      ],
      predict: {
        question: 'The reward will be 0. What would have helped?',
        show: ['messages'],
        choices: ['To ask for a yes before the first call', 'To call a third time', 'To say “Done” after the timeout'],
        answer: 0,
        why: [
          'This customer changes her mind: she wants to cancel another order instead. If the agent had asked, she would have said so in time. Now the first order is cancelled, and no tool can undo this.',
        ],
        reveal: { open: timeouts.rollout('1-5-0', { turn: 13 }) },
      },
    },
    {
      where: `group ${JOINED}`,
      open: timeouts.group(JOINED),
      focus: ['group-columns'],
      text: ['These eight rollouts have the same customer. One rollout is correct, and seven are wrong.'],
      predict: {
        question: 'What did the correct rollout do?',
        show: ['group-task'],
        choices: [
          'It asked for a yes, and said “Done” after the timeout',
          'It called again after the timeout, and never asked',
          'It asked for a yes, and called again after the timeout',
        ],
        answer: 2,
        why: [
          'It is the only rollout with both skills. Its advantage is +2.47, and that of each other rollout is −0.35. So the update makes its questions and its second call more likely.',
          'Other groups teach one skill. In group 1-3, only rollouts that called again are correct. In group 1-5, only rollouts that asked are correct.',
        ],
      },
    },
    {
      where: 'the evaluations before and after training',
      open: timeouts.beforeAfter(),
      focus: ['difference'],
      text: [
        'The weights before and after 40 steps served the same 96 held-out tasks. Before training, 33 % of the writes had the customer’s yes, and the agent called again after 62 % of the timeouts.',
      ],
      predict: {
        question: 'Which of the two shares rose?',
        show: [],
        choices: ['Only the writes with a yes', 'Only the calls after a timeout', 'Both'],
        answer: 2,
        why: [
          'After training, 86 % of the writes had a yes, and the agent called again after 99 % of the timeouts. Success rose from 48 % to 86 %.',
        ],
      },
    },
    {
      where: 'the bundled experiment, its figures',
      open: href({ name: 'experiment', experiment: 'timeouts' }),
      focus: ['figures'],
      text: [
        'Is GRPO needed for this? Over five seeds, GRPO solves 89.8 % of the held-out tasks (95 % interval 87.4 to 92.2), and rejection sampling, which imitates the correct rollouts, 86.9 % (77.4 to 96.4). No difference is shown.',
        'Two rules written by hand solve 92.4 % without training: ask for a yes before each write, and call again after each timeout.',
      ],
      predict: {
        question: 'What does GRPO add to the two rules?',
        show: [],
        choices: ['A higher rate of success', 'Nobody had to write the two rules', 'It needs no simulated customers'],
        answer: 1,
        why: [
          'GRPO gets one number for each conversation. From these outcomes it finds which habits of the demonstrators pay. Rejection sampling finds them from the same outcomes.',
          'If you know the rules, write them. Learn from outcomes if nobody knows which rules are missing.',
        ],
      },
    },
  ],
};

export const lessonOf = (id: LessonId): Lesson => ({ id, steps: STEPS[id] });
