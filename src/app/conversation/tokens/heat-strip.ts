/** @file Draws the whole token sequence on one canvas: computes the value of each column of pixels, and draws the columns. */
import { resolveColor } from '../../kit/color.ts';
import { CHANNEL_INFO, type Channel, type ChannelValues, intensity, stateOf } from './channels.ts';
import type { TokenSequence } from './sequence.ts';

export interface Column {
  /** The strongest state among the column's tokens; `masked` is the weakest, `value` the strongest. */
  state: 'masked' | 'null' | 'zero' | 'value';
  /** The intensity of the token with the strongest colour, from −1 to 1. */
  value: number;
}

const RANK = { masked: 0, null: 1, zero: 2, value: 3 } as const;

/** The columns of a strip of `width` pixels. A column that covers several tokens shows the strongest one. */
export function columnsOf(sequence: TokenSequence, values: ChannelValues, channel: Channel, clip: number, width: number): Column[] {
  const count = Math.max(1, Math.min(width, sequence.length));
  return Array.from({ length: count }, (_, column) => {
    const found: Column = { state: 'masked', value: 0 };
    const end = Math.ceil(((column + 1) * sequence.length) / count);
    for (let t = Math.floor((column * sequence.length) / count); t < end; t++) {
      const sampled = sequence.mask[t] === 1;
      const plain = channel === 'none' || channel === 'mask';
      const state = plain ? (sampled ? 'value' : 'masked') : stateOf(channel, sampled, values[channel][t]!);
      const value = state !== 'value' ? 0 : plain ? 1 : intensity(channel, values[channel][t]!, clip);
      if (RANK[state] > RANK[found.state]) found.state = state;
      if (Math.abs(value) > Math.abs(found.value)) found.value = value;
    }
    return found;
  });
}

/**
 * Draws on `canvas`; `width` and `height` are its size in CSS pixels. A token that was not sampled is a low grey line; a value that is not
 * stored is a dotted line, and zero is a thin line. Other values are bars, which start at the floor or, in a diverging channel, at the
 * middle.
 */
export function drawStrip(
  canvas: HTMLCanvasElement,
  columns: readonly Column[],
  channel: Channel,
  { width, height }: { width: number; height: number },
): void {
  const scale = devicePixelRatio;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext('2d');
  if (!pen) return;
  pen.scale(scale, scale);
  const color = (name: string) => resolveColor(canvas, name);
  const [masked, unknown, mark, up, down] = ['--line', '--line-strong', '--heat-mark', '--heat-up', '--heat-down'].map(color) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const diverging = CHANNEL_INFO[channel].kind === 'diverging';
  const floor = diverging ? height / 2 : height;
  const span = diverging ? height / 2 : height;
  const each = width / columns.length;
  columns.forEach(({ state, value }, i) => {
    const x = i * each;
    const wide = Math.max(1, each);
    if (state === 'masked') {
      pen.fillStyle = masked;
      pen.fillRect(x, floor - 3, wide, 3);
    } else if (state === 'null') {
      pen.fillStyle = unknown;
      if (Math.floor(x / 3) % 2 === 0) pen.fillRect(x, floor - span / 2, wide, 2);
    } else {
      const tall = Math.max(1, Math.abs(value) * span);
      pen.fillStyle = state === 'zero' ? mark : value < 0 ? down : up;
      pen.fillRect(x, value < 0 ? floor : floor - tall, wide, tall);
      // A dark edge shows the height of the bar to readers who cannot see its colour.
      pen.fillStyle = mark;
      pen.fillRect(x, value < 0 ? floor + tall - 1 : floor - tall, wide, 1);
    }
  });
}
