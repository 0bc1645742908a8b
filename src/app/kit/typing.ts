/** True if an element itself uses letter keys, as text or to choose an option. Letter keys are then no shortcuts. */
export const isTyping = (element: Element) => element.matches('input:not([type=range], [type=radio], [type=checkbox]), select, textarea');
