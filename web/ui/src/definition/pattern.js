/* Which databases a table's definition is about: that of its name, or those that its pattern matches. */
const isPattern = (name) => /[\\*+?[\](){}|^]/.test(name);

/* The two expressions of a pattern, as the daemon splits it; without the first, every database matches. */
function databasePart(pattern) {
  for (let i = 0; i + 1 < pattern.length; i++) {
    if (pattern[i] !== "\\") continue;
    if (pattern[i + 1] === ".") return pattern.slice(0, i);
    i++;
  }
  const [database, table] = pattern.split(/\.(.*)/s);
  return table && !"*+?{".includes(table[0]) ? database : ".*";
}

/* `known` has the names of all databases. */
export function databasesOf(name, known) {
  if (!isPattern(name)) return [name.split(".")[0]];
  try {
    const part = new RegExp(`^(?:${databasePart(name)})$`);
    return known.filter((database) => part.test(database));
  } catch {
    return [];
  }
}
