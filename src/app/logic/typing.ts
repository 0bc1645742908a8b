/** Whether the keys pressed in an element are text, or choose among options by their letters: then they are no shortcuts. */
export const isTyping = (element: Element) => element.matches('input:not([type=range], [type=radio], [type=checkbox]), select, textarea');
