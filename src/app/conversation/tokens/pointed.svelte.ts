/** @file The token whose values a small box shows: the token under the mouse, or the token that a key selected. */

export interface Pointed {
  position: number;
  /** Returns the rectangle of the token on the screen. The box must not cover it. */
  place: () => Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>;
  /** The side of the token on which the box is drawn if it fits. */
  side: 'above' | 'below';
}

export class Pointer {
  pointed = $state.raw<Pointed | null>(null);
  /** True if a key made the last selection. The box then stays at the selected token until the mouse moves. */
  byKey = false;

  at(position: number, element: Element): void {
    this.pointed = { position, place: () => element.getBoundingClientRect(), side: 'above' };
  }

  /** Called when the mouse is over a token, or over none (null). Ignored while keys select: the page may scroll under a resting mouse. */
  hover(found: { position: number; token: Element } | null): void {
    if (this.byKey) return;
    if (found) this.at(found.position, found.token);
    else this.clear();
  }

  clear = (): void => {
    this.pointed = null;
  };
}
