// Tables can be sorted by a click on a heading, and long ones filtered. Without scripts they are as they are.
(() => {
  // An infinite loss is printed as inf; it is larger than every number.
  const number = text => (/^inf(\s|$)/.test(text.trim()) ? Infinity : parseFloat(text));
  for (const table of document.querySelectorAll('table:not(.ndp-rows)')) {
    const head = table.tHead, body = table.tBodies[0];
    if (!head || !body || body.rows.length < 3) continue;
    if (body.rows.length > 11) {
      const input = document.createElement('input');
      input.type = 'search';
      input.placeholder = 'filter the rows';
      input.setAttribute('aria-label', 'filter the rows of the table');
      (table.closest('.wide') || table).before(input);
      input.addEventListener('input', () => {
        const wanted = input.value.toLowerCase();
        for (const row of body.rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
      });
    }
    [...head.rows[0].cells].forEach((cell, column) => {
      if (!cell.textContent.trim()) return;
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...cell.childNodes);
      cell.replaceChildren(button);
      let up = 1;
      button.addEventListener('click', () => {
        const key = row => row.cells[column] ? row.cells[column].textContent : '';
        const order = (a, b) => {
          const [x, y] = [number(key(a)), number(key(b))];
          // What is no number is not equal to itself.
          const [known, also] = [x === x, y === y];
          if (!known || !also) return known === also ? up * key(a).localeCompare(key(b)) : also - known;
          return x === y ? 0 : up * (x - y);
        };
        [...body.rows].sort(order).forEach(row => body.append(row));
        for (const other of head.rows[0].cells) other.removeAttribute('aria-sort');
        cell.setAttribute('aria-sort', up > 0 ? 'ascending' : 'descending');
        up = -up;
      });
    });
  }
})();
