/** @file The token whose values are shown in a small box beside it: the token under the mouse, or the token that a key selected. */

export interface Pointed {
  position: number;
  /** The place of the token on the screen now. The box keeps out of it. */
  place: () => Pick<DOMRect, 'left' | 'right' | 'top' | 'bottom'>;
  /** The side of the place where the box goes if there is room. */
  side: 'above' | 'below';
}

export class Pointer {
  pointed = $state.raw<Pointed | null>(null);
  /** A key made the last selection. Then the box is at the selected token until the mouse moves. */
  byKey = false;

  at(position: number, element: Element): void {
    this.pointed = { position, place: () => element.getBoundingClientRect(), side: 'above' };
  }

  /** The mouse is over a token, or over no token. While keys select, a page that scrolls below the mouse changes nothing. */
  hover(found: { position: number; token: Element } | null): void {
    if (this.byKey) return;
    if (found) this.at(found.position, found.token);
    else this.clear();
  }

  clear = (): void => {
    this.pointed = null;
  };
}
