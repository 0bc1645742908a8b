import { moveBorder } from './share-bar.ts';

/** A drag of one border of a share bar. Each move is applied to the shares before the drag, so that dragging back undoes the drag. */
export class BorderDrag {
  /** The shares while a border is dragged, else null. */
  shares = $state.raw<readonly number[] | null>(null);
  #before: readonly number[] = [];
  #border = 0;

  begin(shares: readonly number[], border: number): void {
    this.#before = shares;
    this.#border = border;
    this.shares = shares;
  }

  /** Moves the dragged border. Does nothing if no drag has begun. */
  move(position: number): void {
    if (this.shares) this.shares = moveBorder(this.#before, this.#border, position);
  }

  /** Ends the drag. Returns the new shares, or null if no drag has begun or nothing changed. */
  end(): readonly number[] | null {
    const { shares } = this;
    this.shares = null;
    return shares && shares !== this.#before && shares.some((share, i) => share !== this.#before[i]) ? shares : null;
  }

  cancel(): void {
    this.shares = null;
  }
}
