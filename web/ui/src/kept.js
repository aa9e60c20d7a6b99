/* What the viewer has chosen, in this browser only. */
export function kept(name, otherwise) {
  try {
    return localStorage.getItem(`millrace.${name}`) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(`millrace.${name}`, value);
  } catch {
    /* A browser that keeps nothing shows the defaults. */
  }
}
