// Keyspace: an analysis of what is in Redis, its prefixes as a picture and a table, and what one does to them.

import { badge, isActive } from './job.js';
import { listed } from './jobs.js';
import { settings, sources } from './load.js';
import { bytes, count, curl, duration, field, h, inputOf, moment, notice, number, percent, query, shell, tell } from './page.js';
import { Prefixes, baseOf, beginningOf, bytesOf, cut, levelsOf, nameOf, patternOf, shown } from './prefixes.js';
import { Rows } from './rows.js';
import { Problem, address, call, follow, isKeyed, json } from './service.js';
import { sweep } from './sweep.js';
import { Treemap } from './treemap.js';

const MOST_DEPTH = 8;

/** The letters of a name that a page shows; nobody reads more of them. */
const MOST_LETTERS = 300;

const EARLIER = 5;

const ASKED = 'pipeset.analyses';

const MOST_ASKED = 100;

const TIMES = { '1m': 'up to 1 minute', '1h': 'up to 1 hour', '1d': 'up to 1 day', '7d': 'up to 7 days', longer: 'longer', never: 'never expire' };

/** How the analyses of this tab were asked for, which no report says, and the page on which one went deeper. */
const asked = new Map(JSON.parse(sessionStorage.getItem(ASKED) ?? '[]'));

/** The jobs that this page has begun since an analysis, by its id. */
const swept = new Map();

/** The settings that one fills in. */
let kept = {};

/** The report that one looks at, so that going from prefix to prefix asks for nothing. */
let last;

/** What one wants to see first, on all levels. */
const view = { weigh: 'bytes', column: 'Share', ascending: false };

export async function keyspace(main, page, id) {
	if (id) {
		await analysis(main, page, id, nameIn(location.hash));
	}
	else {
		await beginning(main, page);
	}
}

/** Where an analysis is, at one of its prefixes. */
function placeOf(id, name = '') {
	return `#/keyspace/${id}${name && `?at=${name.replace(/[^\w.-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)}`}`;
}

function nameIn(place) {
	return (/\?at=(.*)$/.exec(place)?.[1] ?? '').replace(/%([0-9a-f]{2})/gi, (escape, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

function pathOf(parameters) {
	return `v1/analyses?${query(Object.entries(parameters))}`.replace(/\?$/, '');
}

/** The terms on which prefixes are counted; those of an analysis that was asked for elsewhere are not known. */
function termsOf(parameters) {
	return { match: parameters?.match, separator: bytesOf(parameters?.separator || ':'), depth: parameters && Number(parameters.depth || 1) };
}

function lineOf(parameters) {
	return curl({ method: 'POST', url: address(pathOf(parameters)), keyed: isKeyed() });
}

/** Begins an analysis, and goes to its page, unless somebody has gone elsewhere meanwhile. */
async function start(page, parameters, up) {
	const { jobId } = await json('POST', pathOf(parameters), { headers: { Prefer: 'respond-async' } });
	asked.set(jobId, { parameters, up });
	sessionStorage.setItem(ASKED, JSON.stringify([...asked].slice(-MOST_ASKED)));
	if (!page.aborted) {
		location.hash = placeOf(jobId);
	}
}

/** Does something that the service may refuse. */
async function attempt(mistaken, page, action) {
	mistaken.say();
	try {
		return await action();
	}
	catch (error) {
		if (!page.aborted) {
			if (!(error instanceof Problem)) {
				throw error;
			}
			mistaken.say(error.message);
		}
		return undefined;
	}
}

/** A pattern that is no longer than one reads. */
function pattern(match) {
	return h('code', { class: 'name' }, cut(shown(bytesOf(match)), MOST_LETTERS));
}

function name(text) {
	return h('span', { class: 'name', title: (text.length > MOST_LETTERS) ? null : text }, cut(text, MOST_LETTERS));
}

function keysOf({ match, type }) {
	return [type ? `${type} keys` : match ? 'Keys' : 'All keys', match ? [' like ', pattern(match)] : ''].flat();
}

async function beginning(main, page) {
	const rows = await settings('analysis');
	const mistaken = notice();
	const line = shell('');
	const go = h('button', { class: 'main', id: 'analyse' }, 'Analyse');
	const labels = { match: ['Keys', 'all keys', 'a pattern such as user:*; all keys if empty'], separator: ['Separator', ':', 'the text that ends a prefix'], depth: ['Depth', '1', 'prefixes have so many separators, 1 to 8'] };
	const given = () => Object.fromEntries(Object.entries(kept).filter(([, value]) => value));
	const inputs = rows.map((row) => {
		const [label, placeholder, hint] = labels[row.name] ?? [row.name, row.defaultValue ?? '', row.meaning];
		const input = inputOf(row, kept[row.name]);
		input.placeholder = placeholder;
		input.addEventListener('input', () => {
			kept[row.name] = input.value.toWellFormed();
			line.say(lineOf(given()));
		});
		return field(row.name, label, input, hint);
	});
	const some = (first) => h('div', { class: `fields ${first ? '' : 'wide'}` }, inputs.filter((input, i) => rows[i].name in labels === first));
	const more = h('details', { class: 'settings', open: rows.some((row) => !(row.name in labels) && kept[row.name]) }, h('summary', {}, 'Settings'), some(false));
	const form = h('form', { onsubmit: async (event) => {
		event.preventDefault();
		go.disabled = true;
		await attempt(mistaken, page, () => start(page, given()));
		go.disabled = false;
	} }, some(true), more, h('p', { class: 'actions' }, go, h('span', { class: 'hint' }, 'It looks at each key once, and only reads.')));
	// A browser says nothing of a mistake that it cannot show.
	more.addEventListener('invalid', () => more.open = true, true);
	const earlier = h('section', { hidden: true, 'aria-labelledby': 'earlier-title' });
	line.say(lineOf(given()));
	main.append(h('h1', {}, 'Keyspace'), h('p', { class: 'lead' }, 'Which keys take the memory? Begin with an analysis of all keys. Then go from prefix to prefix, and delete what is not needed or let it expire.'),
			form, mistaken, h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), line), earlier);
	await attempt(mistaken, page, async () => {
		const { jobs } = await listed([['kind', 'analysis'], ['limit', EARLIER]], page);
		earlier.hidden = jobs.length === 0;
		earlier.replaceChildren(h('h2', { id: 'earlier-title' }, 'Earlier analyses'), h('ul', { class: 'plain' }, jobs.map(({ jobId, state, createdMillis, progress }) => h('li', {},
				h('a', { href: placeOf(jobId) }, asked.has(jobId) ? keysOf(asked.get(jobId).parameters) : 'Analysis'), ' ', badge(state), h('span', { class: 'hint' }, `${moment(createdMillis)}, ${count(progress.done, 'key')}`)))));
	});
}

async function analysis(main, page, id, at) {
	const mistaken = notice();
	const { parameters } = asked.get(id) ?? {};
	const about = h('p', { class: 'hint' });
	const body = h('div');
	main.append(h('div', { class: 'title' }, h('h1', {}, 'Keyspace'), h('span')), about, mistaken, body);
	const another = () => h('a', { class: 'button', href: '#/keyspace' }, 'Another analysis');
	if (last?.id !== id) {
		last = undefined;
		const found = await attempt(mistaken, page, () => followed(id, page, mistaken, body));
		if (page.aborted) {
			return;
		}
		if (!found?.prefixes) {
			if (mistaken.hidden) {
				mistaken.say(found?.ending?.detail ?? 'Its report is gone: the service keeps reports for an hour, and as many as it has room for. Analyse anew.');
			}
			body.replaceChildren(h('p', { class: 'actions' }, another()));
			return;
		}
		last = { id, report: found, prefixes: new Prefixes(found, termsOf(parameters)) };
	}
	const { report, prefixes } = last;
	const node = prefixes.at(at);
	const isRoot = node === prefixes.root;
	document.title = `${node.name ? `${cut(shown(node.name), 60)} · ` : ''}Keyspace · Pipeset`;
	tell(`${node.name ? cut(shown(node.name), MOST_LETTERS) : 'All keys'}, ${count(node.keys, 'key')}`);
	kept = { ...parameters };
	if (report.state !== 'completed') {
		main.querySelector('.title span').replaceWith(badge(report.state));
	}
	about.replaceChildren(...(parameters ? keysOf(parameters) : ['An analysis']), ` · took ${duration(report.timings.totalMillis)}, ${number(report.keysPerSecond)} keys a second · `, h('a', { href: `#/jobs/${id}` }, 'its job'));
	const again = h('button', { type: 'button', id: 'again', onclick: () => attempt(mistaken, page, () => start(page, parameters, asked.get(id).up)) }, 'Analyse again');
	body.append(h('p', { class: 'actions' }, parameters ? again : '', another()), ...remarks(report, id));
	if (report.keys === 0) {
		body.append(h('div', { class: 'empty' }, h('p', {}, h('strong', {}, 'There is no such key.')), h('p', {}, h('a', { href: '#/load' }, 'Load some'), ', or ask for other keys.')));
		return;
	}
	const sized = report.bytes !== undefined;
	const way = wayTo(id, node.name);
	body.append(way.length > 1 ? path(way) : '', figures(node, sized));
	if (node.name) {
		body.append(actions(id, node, page, mistaken));
	}
	if (node.children.length > 0) {
		body.append(prefixesBelow(id, node, sized));
	}
	body.append(h('div', { class: 'cards' }, totals(report, node, isRoot, sized)), ...(sized ? largest(report, node, isRoot) : []));
	if (report.masters) {
		body.append(h('section', { 'aria-labelledby': 'masters-title' }, h('h2', { id: 'masters-title' }, 'Masters'), h('ul', { class: 'plain' }, report.masters.map((master) => h('li', {}, h('code', {}, master.node),
				` ${count(master.keys, 'key')}${master.complete ? '' : ', not to the end'}`)))));
	}
	body.append(h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), ...(parameters ? [h('p', {}, 'Analyse'), shell(lineOf(parameters))] : []),
			h('p', {}, 'This report'), shell(curl({ method: 'GET', url: address(`v1/jobs/${id}`), keyed: isKeyed() }))));
}

/** Shows an analysis while it runs, and answers with its report. */
async function followed(id, page, mistaken, body) {
	const job = `v1/jobs/${id}`;
	const words = h('p', { class: 'words' });
	const stop = h('button', { type: 'button', id: 'cancel', onclick: () => attempt(mistaken, page, () => call('DELETE', job)) }, 'Cancel the analysis');
	const shownNow = h('div', {}, h('progress', { 'aria-label': 'The analysis' }), words, h('p', { class: 'actions' }, stop, h('a', { href: `#/jobs/${id}` }, 'Its job, to change the pace')),
			h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), h('p', {}, 'Follow'), shell(curl({ method: 'GET', url: address(`${job}/events`), headers: { Accept: 'text/plain' }, keyed: isKeyed() }).replace('-sS', '-sSN')),
					h('p', {}, 'Cancel'), shell(curl({ method: 'DELETE', url: address(job), keyed: isKeyed() }))));
	for await (const { kind, state, progress: { done, perSecond, elapsedMillis } } of follow(id, page)) {
		if (kind !== 'analysis') {
			location.replace(`#/jobs/${id}`);
			return undefined;
		}
		if (isActive(state) && !shownNow.isConnected) {
			body.replaceChildren(shownNow);
		}
		words.textContent = (state === 'queued') ? 'It waits for its turn.' : `${count(done, 'key')} · ${number(perSecond)}/s · ${duration(elapsedMillis)}`;
	}
	const report = await json('GET', job, { signal: page });
	mistaken.say();
	body.replaceChildren();
	return report;
}

/** All that one has to know before one believes the numbers. */
function remarks(report, id) {
	const found = [];
	const warn = (...words) => found.push(h('p', { class: 'warning' }, ...words));
	if (report.ending) {
		warn('These are the totals so far. ', report.ending.detail);
	}
	if (report.bytesLeftOut) {
		warn('Without memory: ', report.bytesLeftOut);
	}
	if (report.partialSlots) {
		warn(`Keys of ${count(report.partialSlots, 'slot')} may be missing, which moved or had no master.`);
	}
	if (report.restarts) {
		found.push(h('p', { class: 'hint' }, `Redis was started anew meanwhile, so that the analysis began again ${report.restarts === 1 ? 'once' : `${number(report.restarts)} times`}.`));
	}
	for (const { op, match, jobId } of swept.get(id) ?? []) {
		warn(`Since then: ${op} of `, pattern(match), ' by ', h('a', { href: `#/jobs/${jobId}` }, 'a job'), '. The numbers are those before it; analyse again for those of now.');
	}
	return found;
}

/** The way from all keys to a prefix, through the analyses by which one came. */
function wayTo(id, at) {
	const { parameters, up } = asked.get(id) ?? {};
	const terms = termsOf(parameters);
	const base = baseOf(terms);
	const own = [base, ...(terms.depth ? levelsOf(at, terms.separator) : []).filter((level) => level.length > base.length && level.length < at.length), ...(at.length > base.length ? [at] : [])]
		.map((level) => ({ level, href: placeOf(id, level === base ? '' : level) }));
	return up ? [...wayTo(up.id, up.at).slice(0, -1), ...own] : own;
}

function path(way) {
	return h('div', { class: 'way', role: 'navigation', 'aria-label': 'Prefix' }, h('ol', {}, way.map(({ level, href }, i) => {
		const above = way[i - 1]?.level ?? '';
		const label = level ? shown(level.startsWith(above) ? level.substring(above.length) : level) : 'All keys';
		return h('li', {}, (i === way.length - 1) ? h('span', { class: 'name', 'aria-current': 'location' }, cut(label, 60)) : h('a', { class: 'name', href }, cut(label, 60)));
	})));
}

function figures(node, sized) {
	const tile = (title, value, meaning) => h('div', { class: 'tile', title: meaning }, h('dt', {}, title), h('dd', {}, value));
	return h('dl', { class: 'tiles' }, tile('keys', number(node.keys)), sized ? tile('memory', bytes(node.bytes), 'as MEMORY USAGE says it') : '', sized ? tile('mean size', bytes(node.bytes / node.keys)) : '',
			tile('never expire', percent(node.withoutTtl / node.keys), `${count(node.withoutTtl, 'key')}`));
}

function actions(id, node, page, mistaken) {
	const { parameters } = asked.get(id) ?? {};
	const { separator } = termsOf(parameters);
	const depth = levelsOf(node.name, separator).length + 1;
	const match = patternOf(node.name);
	const hints = [];
	if (!parameters) {
		hints.push('This analysis was asked for elsewhere. If it has left out keys of this prefix, they are met as well.');
	}
	else if (parameters.match && !node.name.startsWith(bytesOf(beginningOf(parameters.match) ?? '\uFFFD'))) {
		hints.push(['The analysis has looked at keys like ', pattern(parameters.match), ' only; the others of this prefix are met as well.']);
	}
	const isGroup = node !== last.prefixes.root && node.children.length > 0;
	if (node.partial || (isGroup && last.report.prefixesOmitted > 0)) {
		hints.push('Some of its keys stand with the smaller prefixes; all of them are met.');
	}
	if (isGroup && last.prefixes.mixed) {
		hints.push(`These numbers are without its keys that have fewer than ${parameters.depth} separators; all of them are met.`);
	}
	const begun = (job) => {
		swept.set(id, [...swept.get(id) ?? [], job]);
		sources.set(job.jobId, { name: cut(shown(bytesOf(job.match)), 60), from: placeOf(id) });
	};
	const parts = [h('h2', { id: 'prefix-title' }, name(shown(node.name))), hints.map((hint) => h('p', { class: 'hint' }, hint)),
		sweep(node.name, parameters?.type, page, begun)];
	if (match !== undefined && match !== parameters?.match && depth <= MOST_DEPTH && node.name.endsWith(separator)) {
		const deeper = { ...parameters, match, depth: String(depth) };
		parts.push(h('p', { class: 'actions' }, h('button', { type: 'button', id: 'deeper', onclick: () => attempt(mistaken, page, () => start(page, deeper, { id, at: node.name })) }, 'Analyse this prefix'),
				h('span', { class: 'hint' }, 'Its next prefixes, times left, sizes and largest keys, by one more look at all keys.')),
		h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), shell(lineOf(deeper))));
	}
	return h('section', { class: 'card', 'aria-labelledby': 'prefix-title' }, parts.flat());
}

/** The name of a prefix below another one. */
function below(child, node) {
	return (child.name === undefined) ? child.label : shown(child.name.startsWith(node.name) ? child.name.substring(node.name.length) : child.name);
}

function bar(share) {
	const element = h('span', { class: 'filled' });
	element.style.width = `${share * 100}%`;
	return h('span', { class: 'rail', 'aria-hidden': 'true' }, element);
}

/** The keys of each type, in words. */
function typesIn({ types, keys }) {
	const sorted = [...types].sort((one, other) => other[1] - one[1]);
	return (sorted.length === 1) ? sorted[0][0] : sorted.map(([type, some]) => `${type} ${percent(some / keys)}`).join(', ');
}

/** The prefixes below one, as a picture and as a table. */
function prefixesBelow(id, node, sized) {
	const listed = node.children.filter((child) => child.name !== undefined).length;
	const map = new Treemap('The prefixes; the table below has the same');
	const left = h('span');
	const weigh = () => sized ? view.weigh : 'keys';
	const share = (child) => child[weigh()] / node[weigh()];
	const words = (weight) => `${weigh() === 'bytes' ? bytes(weight) : count(weight, 'key')} · ${percent(weight / node[weigh()])}`;

	function draw() {
		map.show(node.children.map((child) => ({ name: below(child, node), weight: child[weigh()], words: words(child[weigh()]), href: child.name && placeOf(id, child.name),
			kind: child.name ? `level-${Math.min(4, Math.floor(child.withoutTtl / child.keys * 5))}` : 'rest' })), (rest) => {
			const weight = rest.reduce((sum, block) => sum + block.weight, 0);
			left.textContent = rest.length ? `The ${number(rest.length)} smallest are drawn as one; the table has each of them.` : '';
			return weight ? { name: `${number(rest.length)} more`, weight, words: words(weight), kind: 'rest' } : undefined;
		});
	}

	const columns = [
		{ title: 'Prefix', kind: 'wide', by: (child) => below(child, node), cell: (child) => child.name ? h('a', { class: 'name', href: placeOf(id, child.name) }, cut(below(child, node), MOST_LETTERS)) : h('span', { class: 'hint' }, child.label) },
		{ title: 'Share', kind: 'share', by: share, cell: (child) => h('span', {}, bar(share(child)), percent(share(child))) },
		...(sized ? [{ title: 'Memory', kind: 'number', by: (child) => child.bytes, cell: (child) => bytes(child.bytes) }] : []),
		{ title: 'Keys', kind: 'number', by: (child) => child.keys, cell: (child) => number(child.keys) },
		...(sized ? [{ title: 'Mean', kind: 'number', by: (child) => child.bytes / child.keys, cell: (child) => bytes(child.bytes / child.keys) }] : []),
		{ title: 'Never expire', kind: 'number', by: (child) => child.withoutTtl, cell: (child) => number(child.withoutTtl) },
		{ title: 'Types', kind: 'narrow', by: typesIn, cell: typesIn },
	];
	const rows = new Rows('Prefixes', columns.map((column) => ({ ...column, title: h('button', { type: 'button', class: 'sort', onclick: () => {
		view.ascending = (view.column === column.title) ? !view.ascending : column.title === 'Prefix' || column.title === 'Types';
		view.column = column.title;
		list();
	} }, column.title) })));
	const collator = new Intl.Collator('en', { numeric: true });

	function list() {
		const sorted = columns.find(({ title }) => title === view.column) ?? columns[1];
		[...rows.table.tHead.rows[0].cells].forEach((head, i) => head.setAttribute('aria-sort', (columns[i] !== sorted) ? 'none' : view.ascending ? 'ascending' : 'descending'));
		const way = view.ascending ? 1 : -1;
		rows.show(node.children.map((child) => [sorted.by(child), child])
			.sort(([one], [other]) => way * ((typeof one === 'string') ? collator.compare(one, other) : one - other)).map(([, child]) => child));
	}

	const radio = (value, label) => h('label', {}, h('input', { type: 'radio', name: 'weigh', value, checked: view.weigh === value, onchange: () => {
		view.weigh = value;
		draw();
		list();
	} }), ` ${label}`);
	draw();
	list();
	return h('section', { 'aria-labelledby': 'prefixes-title' }, h('div', { class: 'title' }, h('h2', { id: 'prefixes-title' }, listed === 1 ? '1 prefix' : `${number(listed)} prefixes`),
			sized ? h('fieldset', { class: 'weigh' }, h('legend', { class: 'unseen' }, 'Weigh them'), radio('bytes', 'by memory'), radio('keys', 'by keys')) : ''),
	h('p', { class: 'hint' }, 'Choose a prefix to look into it, and to delete its keys or let them expire.'), map.drawing,
	h('p', { class: 'levels hint' }, 'Keys that never expire: ', [0, 1, 2, 3, 4].map((level) => h('span', { class: `level-${level}` }, `${level * 20}–${level * 20 + 20} %`)), left), rows.element);
}

function bars(title, rows) {
	const id = `${title.replace(/\W/g, '-').toLowerCase()}-title`;
	const most = Math.max(...rows.map(({ value }) => value), 1);
	return h('section', { class: 'card', 'aria-labelledby': id }, h('h2', { id }, title), h('table', { class: 'ranks', 'aria-labelledby': id }, h('tbody', {}, rows.map(({ label, value, words }) => h('tr', {},
			h('th', { scope: 'row' }, label), h('td', { class: 'rails' }, bar(value / most)), words.map((word) => h('td', { class: 'number' }, word)))))));
}

/** Entries without those that are empty at both ends. */
function trimmed(entries) {
	const filled = entries.map(({ keys }) => keys > 0);
	return entries.slice(filled.indexOf(true), filled.lastIndexOf(true) + 1);
}

function totals(report, node, isRoot, sized) {
	const share = (keys) => percent(keys / node.keys);
	if (!isRoot) {
		return [bars('Types', [...node.types].sort((one, other) => other[1] - one[1]).map(([type, keys]) => ({ label: type, value: keys, words: [number(keys), share(keys)] })))];
	}
	return [bars('Types', report.types.map(({ type, keys, bytes: size }) => ({ label: type, value: size ?? keys, words: sized ? [number(keys), bytes(size)] : [number(keys), share(keys)] }))),
		bars('Time left', report.ttls.map(({ within, keys }) => ({ label: TIMES[within] ?? within, value: keys, words: [number(keys), share(keys)] }))),
		...(sized ? [bars('Size of a key', trimmed(report.sizes).map(({ upToBytes, keys }) => ({ label: `up to ${bytes(upToBytes)}`, value: keys, words: [number(keys), share(keys)] })))] : [])];
}

function largest(report, node, isRoot) {
	const keys = report.largest.map((key) => ({ ...key, name: nameOf(key.key) })).filter(({ name: one }) => one.startsWith(isRoot ? '' : node.name));
	if (keys.length === 0) {
		return [];
	}
	const rows = new Rows('The largest keys', [
		{ title: 'Key', kind: 'wide', cell: (key) => name(shown(key.name)) },
		{ title: 'Type', kind: 'narrow', cell: (key) => key.type },
		{ title: 'Memory', kind: 'number', cell: (key) => bytes(key.bytes) },
		{ title: 'Elements', kind: 'number', cell: (key) => key.elements === null ? '' : number(key.elements) },
		{ title: 'Expires in', kind: 'number', cell: (key) => key.ttlMillis === null ? 'never' : duration(key.ttlMillis) },
	]);
	rows.show(keys);
	return [h('section', { 'aria-labelledby': 'largest-title' }, h('h2', { id: 'largest-title' }, isRoot ? 'Largest keys' : `Of the ${number(report.largest.length)} largest keys of the analysis`), rows.element,
			report.elementsLeftOut ? h('p', { class: 'hint' }, `Without their elements: ${report.elementsLeftOut}`) : '')];
}
