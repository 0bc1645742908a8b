/** @file The state of the inspector: one conversation, and how the visitor looks at it. */
import { createContext } from 'svelte';
import { messageNumbers } from '../../../base/message-path.ts';
import type { MessageNode } from '../../../records/trajectory.ts';
import { brokenCalls } from '../../labels/labels.ts';
import { Resource } from '../../kit/resource.svelte.ts';
import type { Router } from '../../routes/router.svelte.ts';
import { BY_CHANNELS, CHANNELS, href } from '../../routes/routes.ts';
import { type Channel, channelValues, type ClipBand, isSecond, outside, type Scale, scaleOf, type Second } from './channels.ts';
import { findText, type Match } from './find.ts';
import { isForeign } from '../../../records/task.ts';
import { alternativeLink, forkLink } from './fork-links.ts';
import { readGroup, type ScaledRollout } from './group-scale.ts';
import type { MarkSource } from './marks.ts';
import { byPosition, highlightsOf, stepPosition } from './highlights.ts';
import { lookOf, stepMessage, stepToken } from './navigation.ts';
import { Pointer } from './pointed.svelte.ts';
import { sequenceOf, spanAt, textOf } from './sequence.ts';
import type { Subject } from './subject.ts';

export const [useInspection, provideInspection] = createContext<Inspection>();

const DEFAULT_BAND: ClipBand = { low: 0.8, high: 1.2 };

/** The address stores everything that the visitor can change, except whether the find bar is open. */
export class Inspection {
  /** Elements that take the focus when something is closed. Components bind them. */
  strip: HTMLElement | undefined;
  panel: HTMLElement | undefined;
  readonly pointer = new Pointer();
  /** The width of the inspector in pixels. An open lesson makes it narrower than the window. */
  width = $state(globalThis.innerWidth ?? 0);
  /** True if the inspector is wide enough for columns on both sides of the conversation. The styles use the same limit. */
  readonly wide = $derived(this.width > 56 * 16);
  /** How often the visitor asked for the find bar since it was last closed. */
  findRequests = $state(0);
  readonly #subject: () => Subject;
  readonly #router: Pick<Router, 'query' | 'setQuery'>;
  readonly #second: () => Second | null;
  readonly #groupScale: Resource<string, ScaledRollout[]>;

  /**
   * Must be called while a component initializes, or inside `$effect.root`.
   * @param second the scores of the tokens by other weights, if there are any
   */
  constructor(subject: () => Subject, router: Pick<Router, 'query' | 'setQuery'>, second: () => Second | null = () => null) {
    this.#subject = subject;
    this.#router = router;
    this.#second = second;
    this.#groupScale = new Resource(
      () => (this.#query.scale === 'group' && this.channel !== 'none' && !isSecond(this.channel) ? this.#members : undefined),
      () => readGroup(this.subject),
    );
  }

  get subject(): Subject {
    return this.#subject();
  }

  // ── tokens ──────────────────────────────────────────────────────────────────────────────────────────────────────
  readonly sequence = $derived.by(() => sequenceOf(this.subject.trajectory));
  readonly text = $derived.by(() => {
    const { vocabulary } = this.subject;
    return vocabulary instanceof Error ? null : textOf(this.sequence, vocabulary);
  });
  readonly #advantage = $derived.by(() => this.subject.facts.advantage ?? null);
  readonly values = $derived.by(() => channelValues(this.sequence, this.#advantage, this.#second()));
  /** The data from which the elements of tokens are built. They are built again when this object changes. */
  readonly source = $derived.by((): MarkSource => {
    const { vocabulary } = this.subject;
    return {
      sequence: this.sequence,
      values: this.values,
      second: this.#second(),
      band: this.band,
      vocabulary: this.text && !(vocabulary instanceof Error) ? vocabulary : null,
      text: this.text,
    };
  });
  /** Why tokens are shown as ids instead of text; null if their text is known. */
  readonly problem = $derived.by(() => {
    const { vocabulary, model } = this.subject;
    if (vocabulary instanceof Error) return `The tokenizer of ${model} cannot be read: ${vocabulary.message}.`;
    return this.text ? null : `The text stored with this conversation was not made with the tokenizer of ${model}.`;
  });
  get band(): ClipBand {
    return this.subject.band ?? DEFAULT_BAND;
  }
  /** How many tokens have an importance ratio outside the clip band. */
  readonly framed = $derived.by(() => this.values.ratio.reduce((count, ratio) => count + Number(outside(this.band, ratio)), 0));

  // ── view ────────────────────────────────────────────────────────────────────────────────────────────────────────
  readonly #query = $derived.by(() => this.#router.query('rollout'));
  get view() {
    return this.#query.view;
  }
  get channel(): Channel {
    return this.#query.ch;
  }
  /** The weights that score the tokens again, as an address names them; '' if the visitor chose no weights. */
  get by() {
    return this.#query.by;
  }
  get channels(): readonly Channel[] {
    return this.by === '' ? CHANNELS : [...CHANNELS, ...BY_CHANNELS];
  }
  /** The shown messages. The messages of the chat template are shown only in the rendered view. */
  readonly shown = $derived.by(() =>
    this.view === 'rendered' ? this.sequence.spans : this.sequence.spans.filter(({ node }) => node.role !== 'template'),
  );
  readonly numbers = $derived.by(() => messageNumbers(this.sequence.spans.map(({ node }) => node)));
  /** The name of a message, for words such as “token 3 of message 5”. */
  nameOf = (id: number): string => (this.numbers.has(id) ? `message ${this.numbers.get(id)}` : 'the template');
  /** For each message id of the agent: the number of its turn, counted from 1. */
  readonly turns = $derived.by(
    () => new Map(this.sequence.spans.filter(({ node }) => node.role === 'assistant').map(({ node }, turn) => [node.id, turn + 1])),
  );

  /** The broken rules of each tool call. */
  readonly broken = $derived.by(() => brokenCalls(this.subject.trajectory.violations));

  setView(view: 'messages' | 'rendered'): void {
    this.#router.setQuery({ view: view === 'messages' ? null : view });
  }

  colorBy(channel: Channel): void {
    this.#router.setQuery({ ch: channel === 'none' ? null : channel });
  }

  /** Scores the tokens by other weights, and shows a channel of the new scores. */
  scoreBy(weights: string): void {
    const shown = isSecond(this.channel);
    if (weights !== '' && !shown) this.colorBy('by_delta_p');
    if (weights === '' && shown) this.colorBy('none');
    this.#router.setQuery({ by: weights });
  }

  // ── scale ───────────────────────────────────────────────────────────────────────────────────────────────────────
  readonly #members = $derived.by(() => this.subject.group?.map(({ id }) => id).join('\n') || undefined);

  /** Null if the channel has no scale. */
  readonly scale = $derived.by((): Scale | null => {
    const { channel, band } = this;
    if (channel === 'none' || channel === 'mask') return null;
    const floor = channel === 'ratio' ? Math.max(1 - band.low, band.high - 1, 1e-6) : undefined;
    return scaleOf(channel, this.#groupScale.fresh ?? [{ values: this.values, mask: this.sequence.mask }], floor);
  });
  /** The rollouts from whose values `scale` was computed: this rollout, or its group. */
  get scaledBy(): 'rollout' | 'group' {
    return this.#groupScale.fresh ? 'group' : 'rollout';
  }
  /** The scale that the visitor chose; null if there is no choice. */
  get scaleChoice(): 'rollout' | 'group' | null {
    return this.scale && (this.subject.group?.length ?? 0) > 1 && !isSecond(this.channel) ? this.#query.scale : null;
  }
  /** The strength from which on the colour is full. */
  get clip(): number {
    return this.scale?.clip ?? 1;
  }

  scaleBy(by: 'rollout' | 'group'): void {
    this.#router.setQuery({ scale: by === 'rollout' ? null : by });
  }

  // ── selection ───────────────────────────────────────────────────────────────────────────────────────────────────
  /** The token position in the address. `selected` is undefined if the sequence has no such position. */
  get position(): number | null {
    return this.#query.tok;
  }
  /** The message of the selected token. */
  readonly selected = $derived.by(() => (this.position === null ? undefined : spanAt(this.sequence, this.position)));
  /** The id of the selected message, or of the message of the selected token. */
  get message(): number | null {
    return this.selected ? this.selected.node.id : this.#query.turn;
  }
  /** The selected message, if it is shown. */
  readonly chosen = $derived.by(() => (this.message === null ? undefined : this.shown.find(({ node }) => node.id === this.message)));
  /** The tool call whose database is shown. */
  get call(): number | null {
    return this.#query.call;
  }

  selectToken = (position: number | null): void => this.#router.setQuery({ tok: position, turn: null });
  selectMessage = (node: number | null): void => this.#router.setQuery({ turn: node, tok: null });
  selectCall = (call: number | null): void => this.#router.setQuery({ call });

  step(what: 'token' | 'message', offset: 1 | -1): void {
    if (what === 'message') this.selectMessage(stepMessage(this.shown, this.message, offset)?.node.id ?? null);
    else this.selectToken(stepToken(this.shown, this.position, this.message, offset));
  }

  /** Closes the token. If none is open, closes the database; if none of the two is open, closes the message. */
  close = (): void => {
    const inPanel = this.panel?.contains(document.activeElement);
    if (this.position !== null) this.selectToken(null);
    else if (this.call !== null) this.selectCall(null);
    else this.selectMessage(null);
    if (inPanel) this.strip?.focus();
  };

  // ── highlights ─────────────────────────────────────────────────────────────────────────────────────────────────────
  readonly highlights = $derived.by(() => highlightsOf({ ...this.source, trajectory: this.subject.trajectory }));
  /** The highlights at each position, in the order of the conversation. */
  readonly highlightsAt = $derived.by(() => byPosition(this.highlights));

  /** Selects the next or the previous highlight. After the last one comes the first. Returns false if there is no highlight. */
  stepHighlight(offset: 1 | -1): boolean {
    const to = stepPosition([...this.highlightsAt.keys()], this.position, offset);
    if (to !== null) this.selectToken(to);
    return to !== null;
  }

  // ── find ────────────────────────────────────────────────────────────────────────────────────────────────────────
  get search(): string {
    return this.#query.q;
  }
  get finding(): boolean {
    return this.findRequests > 0 || this.search !== '';
  }
  readonly matches = $derived.by(() => findText(this.shown, this.text?.pieces ?? null, this.search));
  /** The match that begins at the selected token. */
  readonly match = $derived.by((): Match | undefined => this.matches.find(({ start }) => start === this.position));

  find(): void {
    this.findRequests += 1;
  }

  searchFor(text: string): void {
    this.#router.setQuery({ q: text });
  }

  /** Selects the next or the previous match. After the last one comes the first. */
  stepMatch(offset: 1 | -1): void {
    const from = this.position ?? -1;
    const next =
      offset > 0
        ? (this.matches.find(({ start }) => start > from) ?? this.matches[0])
        : (this.matches.findLast(({ start }) => start < from) ?? this.matches.at(-1));
    if (next) this.selectToken(next.start);
  }

  closeFind(): void {
    this.findRequests = 0;
    this.searchFor('');
    this.strip?.focus();
  }

  // ── links ───────────────────────────────────────────────────────────────────────────────────────────────────────
  #link(more: Record<string, number>): string {
    return href(this.subject.route, { ...lookOf(this.#query), ...more });
  }
  messageLink = (node: number): string => this.#link({ turn: node });
  tokenLink = (position: number): string => this.#link({ tok: position });
  callLink = (call: number): string => this.#link({ call });

  /** The properties that both `Message` and `RenderedMessage` get for a message. */
  messageProps({ id, toolResult }: MessageNode) {
    return {
      current: id === this.message,
      link: this.messageLink(id),
      number: this.numbers.get(id),
      turn: this.turns.get(id),
      broken: toolResult && this.broken.get(toolResult.index),
      worldLink: toolResult && !this.foreign ? this.callLink(toolResult.index) : undefined,
    };
  }

  /** True if another program recorded the conversation. Its world is not known, so the visitor cannot continue it. */
  readonly foreign = $derived(isForeign(this.subject.trajectory.task));

  /**
   * For each role, a link to continue from the selected message, or from the role's last message if none is selected. Null if nothing can go on
   * from here: weights need the tokens.
   */
  readonly forks = $derived.by(() =>
    this.foreign || this.sequence.length === 0
      ? null
      : { user: forkLink(this.subject, this.message, 'user'), agent: forkLink(this.subject, this.message, 'agent') },
  );

  /** A link to continue with another token at the selected position. Null if the token at this position was not sampled. */
  alternativeLink(token: number): string | null {
    const { position, selected, foreign } = this;
    return !foreign && selected && position !== null && this.sequence.mask[position]
      ? alternativeLink(this.subject, selected, position, token)
      : null;
  }
}
