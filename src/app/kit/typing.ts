/** Whether an element uses letter keys itself, as text or to choose an option. Then the keys are not shortcuts. */
export const isTyping = (element: Element) => element.matches('input:not([type=range], [type=radio], [type=checkbox]), select, textarea');
