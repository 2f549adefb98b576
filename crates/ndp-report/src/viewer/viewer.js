// A network whose nodes are colored by what one observer learns about them. A click on a node makes it the
// observer. Where all losses follow from one number at every noise, a slider changes the noise.
(() => {
  const make = (name, parent, attributes = {}) => {
    const node = parent && parent.namespaceURI.endsWith('svg') ? document.createElementNS(parent.namespaceURI, name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (parent) parent.append(node);
    return node;
  };
  const COLORS = [[68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [253, 231, 37]];
  // The color of a loss without a bound is none of the scale.
  const ENDLESS = '#d62828';
  const color = share => {
    const at = Math.min(Math.max(share, 0), 1) * (COLORS.length - 1), k = Math.min(Math.floor(at), COLORS.length - 2);
    return `rgb(${COLORS[k].map((low, i) => Math.round(low + (at - k) * (COLORS[k + 1][i] - low)))})`;
  };
  // Five digits, never below the number: rounding errors of the few operations before are covered, too.
  const up = value => {
    if (value === Infinity) return 'inf';
    if (!(value > 0)) return '0';
    const safe = value * (1 + 1e-12), step = Math.pow(10, Math.floor(Math.log10(safe)) - 4);
    let shown = Number((Math.ceil(safe / step) * step).toPrecision(5));
    if (shown < safe) shown = Number(((Math.ceil(safe / step) + 1) * step).toPrecision(5));
    return String(shown);
  };
  // What a printed number stands for; infinity is printed as inf.
  const value = printed => (printed === 'inf' ? Infinity : Number(printed));
  for (const box of document.querySelectorAll('.ndp-viewer')) {
    if (box.dataset.ready) continue;
    box.dataset.ready = '1';
    const data = JSON.parse(box.querySelector('script').textContent);
    const scaling = data.scaling;
    let observer = 0, sigma = data.sigma, chosen = null;

    // The loss of the pair at the noise that is set: its value and how it is shown; null where none is known.
    const mu = u => {
      const unit = scaling.units[observer][u];
      return unit === null ? null : Math.sqrt(value(unit)) * data.sensitivity / sigma * (1 + 1e-12);
    };
    const above = m => scaling.mus.findIndex(step => step >= m);
    const loss = u => {
      const printed = data.losses[observer][u];
      if (printed === null) return null;
      if (!scaling || sigma === data.sigma) return [value(printed), printed];
      const m = mu(u);
      if (m === null) return null;
      if (m === 0) return [0, '0'];
      if (m === Infinity) return [Infinity, 'inf'];
      if (scaling.measure === 'renyi') { const renyi = scaling.order * m * m / 2; return [renyi, up(renyi)]; }
      if (scaling.measure === 'mu') return [m, up(m)];
      const step = above(m);
      return step < 0 ? [Infinity, 'inf'] : [value(scaling.epsilons[step]), scaling.epsilons[step]];
    };
    const endless = row => row.loss[0] === Infinity;

    const svg = box.querySelector('svg'), bar = make('div', null, { class: 'ndp-bar' });
    svg.before(bar);
    const label = (text, parent) => { const l = make('label', parent); l.append(text + ' '); return l; };
    const select = make('select', label('observer', bar));
    data.observers.forEach((one, k) => { make('option', select, { value: k }).textContent = one.name; });
    let slider = null;
    if (scaling) {
      const line = label('noise', bar);
      slider = make('input', line, { type: 'range', min: -50, max: 50, value: 0, step: 1, 'aria-label': 'noise, a tenth to ten times what was asked' });
      slider.out = make('output', line);
    }
    const width = 640, height = 460, margin = 14;
    const xs = data.positions.map(p => p[0]), ys = data.positions.map(p => p[1]);
    const range = values => [Math.min(...values), Math.max(...values)];
    const [[x0, x1], [y0, y1]] = [range(xs), range(ys)];
    const place = v => [
      margin + (width - 2 * margin) * (x1 > x0 ? (xs[v] - x0) / (x1 - x0) : .5),
      margin + (height - 2 * margin) * (y1 > y0 ? (y1 - ys[v]) / (y1 - y0) : .5)
    ];
    const places = data.positions.map((_, v) => place(v).map(c => Math.round(10 * c) / 10));
    make('path', svg, { d: data.edges.map(([u, v]) => `M${places[u]}L${places[v]}`).join(''), class: 'ndp-edges' });
    const radius = Math.max(2.5, Math.min(9, 90 / Math.sqrt(data.names.length)));
    const nodes = data.names.map((name, v) => {
      const circle = make('circle', svg, { cx: places[v][0], cy: places[v][1], r: radius });
      circle.dataset.node = v;
      make('title', circle);
      if (data.names.length <= 40) {
        const [x, y] = places[v], left = x > .85 * width;
        const text = make('text', svg, { x: x + (left ? -1 : 1) * (radius + 3), y: y + 4, 'text-anchor': left ? 'end' : 'start', class: 'ndp-name' });
        text.textContent = name.length > 16 ? name.slice(0, 15) + '…' : name;
      }
      return circle;
    });
    const legend = make('g', svg, { class: 'ndp-legend' });
    const scale = make('g', legend), beyond = make('g', legend);
    const bars = [...Array(60).keys()].map(k => make('rect', scale, { x: 60 + 4 * k, y: height + 10, width: 4.5, height: 10 }));
    make('text', scale, { x: 54, y: height + 19, 'text-anchor': 'end' }).textContent = '0';
    const most = make('text', scale, { x: 306, y: height + 19 });
    make('rect', beyond, { x: 60, y: height + 28, width: 10, height: 10, fill: ENDLESS });
    make('text', beyond, { x: 76, y: height + 37 }).textContent = 'no bound';
    const said = make('p', box, { class: 'ndp-said', 'aria-live': 'polite' });
    let profile = null;
    if (scaling && scaling.deltas) {
      const line = label('for the pair that is shown, at epsilon', make('div', box, { class: 'ndp-bar' }));
      profile = make('input', line, { type: 'range', min: 0, max: scaling.at.length - 1, value: Math.floor(scaling.at.length / 2), 'aria-label': 'epsilon' });
      profile.out = make('output', line);
    }
    const filter = make('input', box, { type: 'search', placeholder: 'filter the nodes', 'aria-label': 'filter the nodes' });
    const wide = make('div', box, { class: 'wide ndp-scroll', tabindex: 0, role: 'region', 'aria-label': 'losses of all nodes to the observer' });
    const table = make('table', wide, { class: 'ndp-rows' });
    const head = make('tr', make('thead', table)), body = make('tbody', table);
    let by = 1, direction = -1;
    ['exposed node', data.measure].forEach((title, column) => {
      const button = make('button', make('th', head, { scope: 'col' }), { type: 'button' });
      button.textContent = title;
      button.addEventListener('click', () => { direction = by === column ? -direction : column ? -1 : 1; by = column; rows(); });
    });
    let found = [];
    const rows = () => {
      const wanted = filter.value.toLowerCase();
      const shown = found.filter(row => row.name.toLowerCase().includes(wanted));
      const natural = new Intl.Collator('en', { numeric: true });
      shown.sort((a, b) => direction * (by ? a.loss[0] - b.loss[0] : natural.compare(a.name, b.name)) || a.v - b.v);
      body.replaceChildren(...shown.map(row => {
        const line = make('tr', null, { 'data-node': row.v });
        make('th', line, { scope: 'row' }).textContent = row.name;
        make('td', line).textContent = row.loss[1];
        return line;
      }));
    };
    const say = () => {
      const who = data.observers[observer].name;
      const worst = found.reduce((a, b) => (a && a.loss[0] >= b.loss[0] ? a : b), null);
      const row = found.find(row => row.v === chosen) || worst;
      if (profile) profile.out.textContent = '';
      if (!row) { said.textContent = `No loss towards ${who} is known.`; return; }
      if (endless(row)) {
        const others = row.v === chosen ? 0 : found.filter(endless).length - 1;
        const more = others ? ` and ${others} other node${others > 1 ? 's' : ''}` : '';
        said.textContent = `Nothing here bounds what ${who} learns about ${row.name}${more} (${data.measure}).`;
      } else {
        const most = row === worst ? 'learns most about' : 'learns about';
        said.textContent = `${who} ${most} ${row.name}: at most ${row.loss[1]} (${data.measure}).`;
      }
      if (!profile) return;
      const k = Number(profile.value), m = mu(row.v), step = m === null ? -1 : above(m);
      const delta = step < 0 ? 'delta is not known' : `delta at most ${scaling.deltas[k][step]}`;
      profile.out.textContent = `${scaling.at[k]}: ${delta}`;
    };
    const draw = () => {
      const members = new Set(data.observers[observer].members);
      found = [];
      data.names.forEach((name, v) => {
        const one = members.has(v) ? null : loss(v);
        if (one) found.push({ v, name, loss: one });
      });
      const largest = found.filter(row => !endless(row)).reduce((a, b) => (a && a.loss[0] >= b.loss[0] ? a : b), null);
      const top = largest ? largest.loss[0] : 0;
      nodes.forEach((circle, v) => {
        circle.setAttribute('class', members.has(v) ? 'ndp-observer' : '');
        circle.setAttribute('fill', members.has(v) ? '#fff' : '#bbb');
        circle.firstChild.textContent = data.names[v] + (members.has(v) ? ': observes' : ': not known');
      });
      for (const row of found) {
        nodes[row.v].setAttribute('fill', endless(row) ? ENDLESS : color(top > 0 ? row.loss[0] / top : 0));
        nodes[row.v].firstChild.textContent = `${row.name}: ${endless(row) ? 'no bound' : `at most ${row.loss[1]}`}`;
      }
      // Only what is painted has an entry.
      const unbounded = found.some(endless);
      svg.setAttribute('viewBox', `0 0 ${width} ${height + (unbounded ? 52 : 34)}`);
      scale.setAttribute('visibility', largest || !unbounded ? 'visible' : 'hidden');
      beyond.setAttribute('visibility', unbounded ? 'visible' : 'hidden');
      bars.forEach((bar, k) => bar.setAttribute('fill', color(top > 0 ? k / 59 : 0)));
      most.textContent = `${largest ? largest.loss[1] : 0} ${data.measure}`;
      svg.setAttribute('aria-label', `What ${data.observers[observer].name} learns about each node; the table below has the numbers`);
      if (slider) slider.out.textContent = String(sigma) + (sigma === data.sigma ? ', as asked' : '');
      rows();
      say();
    };
    const choose = k => { observer = k; chosen = null; select.value = k; draw(); };
    select.addEventListener('change', () => choose(Number(select.value)));
    svg.addEventListener('click', event => {
      const v = event.target.dataset && event.target.dataset.node;
      if (v === undefined) return;
      const of = test => data.observers.findIndex(test), node = Number(v);
      const alone = of(one => one.members.length === 1 && one.members[0] === node);
      const within = alone < 0 ? of(one => one.members.includes(node)) : alone;
      if (within >= 0) { choose(within); return; }
      chosen = node;
      say();
      said.textContent = `What ${data.names[node]} learns is not on this page: ${data.left_out.includes(node) ? 'it was computed, but left out to keep the page small' : 'it was not computed as an observer'}. ` + said.textContent;
    });
    body.addEventListener('click', event => {
      const line = event.target.closest('tr');
      if (line) { chosen = Number(line.dataset.node); say(); }
    });
    if (slider) slider.addEventListener('input', () => {
      const k = Number(slider.value);
      // What is shown is what is computed with: four digits of the noise.
      sigma = k === 0 ? data.sigma : Number((data.sigma * Math.pow(10, k / 50)).toPrecision(4));
      draw();
    });
    if (profile) profile.addEventListener('input', say);
    filter.addEventListener('input', rows);
    box.hidden = false;
    choose(0);
  }
})();
