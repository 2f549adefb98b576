// As much of a browser's document as the scripts of a page use, for tests without a browser.
class Node_ {
  constructor(name, namespaceURI = 'html') {
    Object.assign(this, { name, namespaceURI, attributes: {}, children: [], texts: [], dataset: {}, heard: {}, parent: null, value: '' });
  }
  setAttribute(key, value) {
    this.attributes[key] = String(value);
    if (key === 'value') this.value = String(value);
    if (key.startsWith('data-')) this.dataset[key.slice(5)] = String(value);
  }
  removeAttribute(key) { delete this.attributes[key]; }
  get all() { return this.children.flatMap(child => [child, ...child.all]); }
  get firstChild() { return this.children[0]; }
  get childNodes() { return [...this.texts, ...this.children]; }
  get textContent() { return this.texts.join('') + this.children.map(child => child.textContent).join(''); }
  set textContent(text) { this.replaceChildren(String(text)); }
  append(...parts) {
    for (const part of parts) {
      if (typeof part === 'string') { this.texts.push(part); continue; }
      if (part.parent) part.parent.children = part.parent.children.filter(child => child !== part);
      part.parent = this;
      this.children.push(part);
    }
  }
  replaceChildren(...parts) { this.children = []; this.texts = []; this.append(...parts); }
  before(other) { other.parent = this.parent; this.parent.children.splice(this.parent.children.indexOf(this), 0, other); }
  closest(name) { return this.name === name ? this : this.parent && this.parent.closest(name); }
  querySelectorAll(name) { return this.all.filter(child => child.name === name || child.attributes.class === name.slice(1)); }
  querySelector(name) { return this.querySelectorAll(name)[0]; }
  addEventListener(kind, hear) { this.heard[kind] = hear; }
  tell(kind, target = this) { this.heard[kind]({ target }); }
  get rows() { return this.querySelectorAll('tr'); }
  get cells() { return this.children; }
  get tHead() { return this.querySelector('thead'); }
  get tBodies() { return this.querySelectorAll('tbody'); }
}
const shown = { boxes: [], tables: [] };
globalThis.document = {
  createElement: name => new Node_(name),
  createElementNS: (namespace, name) => new Node_(name, namespace),
  querySelectorAll: what => (what.startsWith('table') ? shown.tables : shown.boxes),
};
const child = (parent, name, text = '', namespace = 'html') => {
  const node = new Node_(name, namespace);
  if (text) node.append(text);
  parent.append(node);
  return node;
};
// A page with a viewer of these data.
const viewerOf = json => {
  const box = new Node_('section');
  child(box, 'script', json);
  child(box, 'svg', '', 'http://www.w3.org/2000/svg');
  shown.boxes = [box];
  return box;
};
// A page with a table of this header and these rows.
const tableOf = (header, rows) => {
  const table = new Node_('table'), head = child(child(table, 'thead'), 'tr'), body = child(table, 'tbody');
  header.forEach(name => child(head, 'th', name));
  for (const row of rows) {
    const line = child(body, 'tr');
    row.forEach(text => child(line, 'td', text));
  }
  shown.tables = [table];
  return table;
};
