// The page Keyspace: an analysis of the keys in Redis, its prefixes as a treemap and a table, and actions on them.

import { badge, isActive } from './jobwords.js';
import { fetchJobs } from './jobtable.js';
import { settingField } from './labels.js';
import { fetchSettings, sources } from './tab.js';
import { curl, shell } from './curl.js';
import { announce, bytes, count, duration, h, inputOf, notice, number, percent, query, timestamp } from './page.js';
import { PrefixTree, bytesOf, commonPrefixOf, displayName, levelsOf, literalPrefixOf, nameOf, patternOf, truncate } from './prefixes.js';
import { VirtualTable } from './rows.js';
import { Problem, call, follow, json } from './service.js';
import { sweep } from './sweep.js';
import { Treemap } from './treemap.js';

const MAX_DEPTH = 8;

/** The most characters of a name that a page shows. */
const MAX_CHARACTERS = 300;

const MAX_EARLIER = 5;

const REQUESTS_KEY = 'pipeset.analyses';

const MAX_REQUESTS = 100;

const TIMES = { '1m': 'up to 1 minute', '1h': 'up to 1 hour', '1d': 'up to 1 day', '7d': 'up to 7 days', longer: 'longer', never: 'never expire' };

/** The parameters of the analyses of this tab, because reports omit them, and the prefix from which each was started. */
const requests = new Map(JSON.parse(sessionStorage.getItem(REQUESTS_KEY) ?? '[]'));

/** The sweeps that this tab started after an analysis, by the ID of the analysis. */
const sweeps = new Map();

let formValues = {};

/** The current report, so that links from prefix to prefix need no request. */
let current;

/** The prefix of the keys that belong to the service. */
const OWN = 'pipeset:';

/** What the blocks measure, how the table is sorted, and whether the service's own keys are shown, on all levels. */
const view = { measure: 'bytes', column: 'Share', ascending: false, own: false };

export async function keyspace(main, page, id) {
	if (id) {
		await analysis(main, page, id, prefixIn(location.hash));
	}
	else {
		await startPage(main, page);
	}
}

/** The link to an analysis, or to one of its prefixes. */
function hrefOf(id, name = '') {
	return `#/keyspace/${id}${name && `?at=${name.replace(/[^\w.-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)}`}`;
}

function prefixIn(hash) {
	return (/\?at=(.*)$/.exec(hash)?.[1] ?? '').replace(/%([0-9a-f]{2})/gi, (escape, code) => String.fromCharCode(Number.parseInt(code, 16)));
}

function pathOf(parameters) {
	return `v1/analyses?${query(Object.entries(parameters))}`.replace(/\?$/, '');
}

/** How an analysis groups keys by prefix. The depth is unknown if the analysis was started elsewhere. */
function groupingOf(parameters) {
	return { match: parameters?.match, separator: bytesOf(parameters?.separator || ':'), depth: parameters && Number(parameters.depth || 1) };
}

function lineOf(parameters) {
	return curl(pathOf(parameters), { method: 'POST' });
}

/** Starts an analysis, and opens its page if the user is still on this one. */
async function start(page, parameters, parent) {
	const { jobId } = await json('POST', pathOf(parameters), { headers: { Prefer: 'respond-async' } });
	requests.set(jobId, { parameters, up: parent });
	sessionStorage.setItem(REQUESTS_KEY, JSON.stringify([...requests].slice(-MAX_REQUESTS)));
	if (!page.aborted) {
		location.hash = hrefOf(jobId);
	}
}

/** Runs an action. If the service refuses it, shows why. */
async function attempt(errorNotice, page, action) {
	errorNotice.setText();
	try {
		return await action();
	}
	catch (error) {
		if (!page.aborted) {
			if (!(error instanceof Problem)) {
				throw error;
			}
			errorNotice.setText(error.message);
		}
		return undefined;
	}
}

function pattern(match) {
	return h('code', { class: 'name' }, truncate(displayName(bytesOf(match)), MAX_CHARACTERS));
}

function name(text) {
	return h('span', { class: 'name', title: (text.length > MAX_CHARACTERS) ? null : text }, truncate(text, MAX_CHARACTERS));
}

function keysOf({ match, type }) {
	return [type ? `${type} keys` : match ? 'Keys' : 'All keys', match ? [' like ', pattern(match)] : ''].flat();
}

async function startPage(main, page) {
	const rows = await fetchSettings('analysis');
	const errorNotice = notice();
	const line = shell('');
	const go = h('button', { class: 'main', id: 'analyse' }, 'Analyse');
	const first = { match: 'a pattern such as user:*; all keys if empty', separator: 'the text that ends a prefix', depth: 'the separators in a prefix, 1 to 8' };
	const parameters = () => Object.fromEntries(Object.entries(formValues).filter(([, value]) => value));
	const inputs = rows.map((row) => {
		const input = inputOf(row, formValues[row.name]);
		input.placeholder = (row.name === 'match') ? 'all keys' : row.defaultValue ?? '';
		input.addEventListener('input', () => {
			formValues[row.name] = input.value.toWellFormed();
			line.setText(lineOf(parameters()));
		});
		return settingField(row, { input, hint: first[row.name], label: (row.name === 'rateLimit') ? 'Keys per second at most' : undefined });
	});
	const fieldsOf = (isFirst) => h('div', { class: `fields ${isFirst ? '' : 'wide'}` }, inputs.filter((input, i) => rows[i].name in first === isFirst));
	const more = h('details', { class: 'settings', open: rows.some((row) => !(row.name in first) && formValues[row.name]) }, h('summary', {}, 'Settings'), fieldsOf(false));
	const form = h('form', { onsubmit: async (event) => {
		event.preventDefault();
		go.disabled = true;
		await attempt(errorNotice, page, () => start(page, parameters()));
		go.disabled = false;
	} }, fieldsOf(true), more, h('p', { class: 'actions' }, go, h('span', { class: 'hint' }, 'An analysis reads each key once, and changes nothing.')));
	// A browser shows no validation error in a closed section.
	more.addEventListener('invalid', () => more.open = true, true);
	const earlier = h('section', { hidden: true, 'aria-labelledby': 'earlier-title' });
	line.setText(lineOf(parameters()));
	main.append(h('h1', {}, 'Keyspace'), h('p', { class: 'lead' }, 'Which keys use the memory? Begin with an analysis of all keys. Then open a prefix, and delete its keys or let them expire.'),
			form, errorNotice, h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), line), earlier);
	await attempt(errorNotice, page, async () => {
		const { jobs } = await fetchJobs([['kind', 'analysis'], ['limit', MAX_EARLIER]], page);
		earlier.hidden = jobs.length === 0;
		earlier.replaceChildren(h('h2', { id: 'earlier-title' }, 'Earlier analyses'), h('ul', { class: 'plain' }, jobs.map((status) => h('li', {},
				h('a', { href: hrefOf(status.jobId) }, requests.has(status.jobId) ? keysOf(requests.get(status.jobId).parameters) : 'Analysis'), ' ', badge(status), h('span', { class: 'hint' }, `${timestamp(status.createdMillis)}, ${count(status.progress.done, 'key')}`)))));
	});
}

async function analysis(main, page, id, at) {
	const errorNotice = notice();
	const { parameters } = requests.get(id) ?? {};
	const about = h('p', { class: 'hint' });
	const body = h('div');
	main.append(h('div', { class: 'title' }, h('h1', {}, 'Keyspace'), h('span')), about, errorNotice, body);
	const another = () => h('a', { class: 'button', href: '#/keyspace' }, 'Another analysis');
	if (current?.id !== id) {
		current = undefined;
		const found = await attempt(errorNotice, page, () => followAnalysis(id, page, errorNotice, body));
		if (page.aborted) {
			return;
		}
		if (!found?.prefixes) {
			if (errorNotice.hidden) {
				errorNotice.setText(found?.ending?.detail ?? 'The report is gone. The service keeps reports for an hour, or less if there are too many. Start another analysis.');
			}
			body.replaceChildren(h('p', { class: 'actions' }, another()));
			return;
		}
		current = { id, report: found };
	}
	const { report } = current;
	// Whoever analyses the service's own keys, or opens their prefix, wants to see them.
	const isAsked = view.own || at.startsWith(OWN) || (parameters?.match ?? '').startsWith(OWN);
	const isShown = (reported) => isAsked || !nameOf(reported).startsWith(OWN);
	const own = report.prefixes.filter(({ prefix }) => nameOf(prefix).startsWith(OWN)).reduce((sum, { keys }) => sum + keys, 0);
	const prefixes = current.prefixes = new PrefixTree({ ...report, prefixes: report.prefixes.filter(({ prefix }) => isShown(prefix)) }, groupingOf(parameters));
	const node = prefixes.nodeAt(at);
	const isRoot = node === prefixes.root;
	document.title = `${node.name ? `${truncate(displayName(node.name), 60)} · ` : ''}Keyspace · Pipeset`;
	announce(`${node.name ? truncate(displayName(node.name), MAX_CHARACTERS) : 'All keys'}, ${count(node.keys, 'key')}`);
	formValues = { ...parameters };
	if (report.state !== 'completed') {
		main.querySelector('.title span').replaceWith(badge(report));
	}
	about.replaceChildren(...(parameters ? keysOf(parameters) : ['An analysis']), ` · took ${duration(report.timings.totalMillis)}, ${number(report.keysPerSecond)} keys per second · `, h('a', { href: `#/jobs/${id}` }, 'job page'));
	const again = h('button', { type: 'button', id: 'again', onclick: () => attempt(errorNotice, page, () => start(page, parameters, requests.get(id).up)) }, 'Analyse again');
	body.append(h('p', { class: 'actions' }, parameters ? again : '', another()), ...remarks(report, id));
	if (own > 0 && !at && !(parameters?.match ?? '').startsWith(OWN)) {
		const box = h('input', { type: 'checkbox', id: 'own', checked: view.own, onchange: async () => {
			view.own = box.checked;
			main.replaceChildren();
			await analysis(main, page, id, at);
			document.getElementById('own').focus();
		} });
		body.append(h('p', { class: 'hint' }, h('label', {}, box, ` Include ${count(own, 'key')} of the service itself (${OWN}*)`)));
	}
	if (prefixes.root.keys === 0) {
		body.append(h('div', { class: 'empty' }, h('p', {}, h('strong', {}, 'No key was found.')), h('p', {}, h('a', { href: '#/load' }, 'Load some keys'), ', or analyse other keys.')));
		return;
	}
	const hasMemory = report.bytes !== undefined;
	const breadcrumbs = breadcrumbsTo(id, node.name);
	body.append(breadcrumbs.length > 1 ? navigation(breadcrumbs) : '', tiles(node, hasMemory));
	if (node.name) {
		body.append(actions(id, node, page, errorNotice));
	}
	if (node.children.length > 0) {
		body.append(childPrefixes(id, node, hasMemory));
	}
	body.append(h('div', { class: 'cards' }, totals(report, node, isRoot, hasMemory)), ...(hasMemory ? largest(report, node, isRoot, isShown) : []));
	if (report.masters) {
		body.append(h('section', { 'aria-labelledby': 'masters-title' }, h('h2', { id: 'masters-title' }, 'Masters'), h('ul', { class: 'plain' }, report.masters.map((master) => h('li', {}, h('code', {}, master.node),
				` ${count(master.keys, 'key')}${master.complete ? '' : ', incomplete'}`)))));
	}
	body.append(h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), ...(parameters ? [h('p', {}, 'Analyse'), shell(lineOf(parameters))] : []),
			h('p', {}, 'This report'), shell(curl(`v1/jobs/${id}`))));
}

/** Shows the progress of an analysis, and returns its report. */
async function followAnalysis(id, page, errorNotice, body) {
	const job = `v1/jobs/${id}`;
	const words = h('p', { class: 'words' });
	const stop = h('button', { type: 'button', id: 'cancel', onclick: () => attempt(errorNotice, page, () => call('DELETE', job)) }, 'Cancel the analysis');
	const progressView = h('div', {}, h('progress', { 'aria-label': 'The analysis' }), words, h('p', { class: 'actions' }, stop, h('a', { href: `#/jobs/${id}` }, 'Job page, to change the rate limit')),
			h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), h('p', {}, 'Follow'), shell(curl(`${job}/events`, { headers: { Accept: 'text/plain' } }).replace('-sS', '-sSN')),
					h('p', {}, 'Cancel'), shell(curl(job, { method: 'DELETE' }))));
	for await (const { kind, state, progress: { done, perSecond, elapsedMillis } } of follow(id, page)) {
		if (kind !== 'analysis') {
			location.replace(`#/jobs/${id}`);
			return undefined;
		}
		if (isActive(state) && !progressView.isConnected) {
			body.replaceChildren(progressView);
		}
		words.textContent = (state === 'queued') ? 'It waits in the queue.' : `${count(done, 'key')} · ${number(perSecond)}/s · ${duration(elapsedMillis)}`;
	}
	const report = await json('GET', job, { signal: page });
	errorNotice.setText();
	body.replaceChildren();
	return report;
}

/** The limits of the numbers: what is missing or outdated. */
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
		warn(`Keys of ${count(report.partialSlots, 'slot')} may be missing, because the slots moved or had no master.`);
	}
	if (report.restarts) {
		found.push(h('p', { class: 'hint' }, `Redis restarted during the analysis, so the analysis started again ${report.restarts === 1 ? 'once' : `${number(report.restarts)} times`}.`));
	}
	for (const { op, match, jobId } of sweeps.get(id) ?? []) {
		warn(`Since then: ${op} of `, pattern(match), ' by ', h('a', { href: `#/jobs/${jobId}` }, 'a job'), '. These numbers are older. Analyse again for current numbers.');
	}
	return found;
}

/** The links from all keys to a prefix, through the analyses that led to it. */
function breadcrumbsTo(id, at) {
	const { parameters, up: parent } = requests.get(id) ?? {};
	const grouping = groupingOf(parameters);
	const base = commonPrefixOf(grouping);
	const own = [base, ...(grouping.depth ? levelsOf(at, grouping.separator) : []).filter((level) => level.length > base.length && level.length < at.length), ...(at.length > base.length ? [at] : [])]
		.map((level) => ({ level, href: hrefOf(id, level === base ? '' : level) }));
	return parent ? [...breadcrumbsTo(parent.id, parent.at).slice(0, -1), ...own] : own;
}

function navigation(breadcrumbs) {
	return h('div', { class: 'breadcrumbs', role: 'navigation', 'aria-label': 'Prefix' }, h('ol', {}, breadcrumbs.map(({ level, href }, i) => {
		const above = breadcrumbs[i - 1]?.level ?? '';
		const label = level ? displayName(level.startsWith(above) ? level.substring(above.length) : level) : 'All keys';
		return h('li', {}, (i === breadcrumbs.length - 1) ? h('span', { class: 'name', 'aria-current': 'location' }, truncate(label, 60)) : h('a', { class: 'name', href }, truncate(label, 60)));
	})));
}

function tiles(node, hasMemory) {
	const tile = (title, value, meaning) => h('div', { class: 'tile', title: meaning }, h('dt', {}, title), h('dd', {}, value));
	return h('dl', { class: 'tiles' }, tile('keys', number(node.keys)), hasMemory ? tile('memory', bytes(node.bytes), 'as MEMORY USAGE reports it') : '', hasMemory ? tile('mean size', bytes(node.bytes / node.keys)) : '',
			tile('never expire', percent(node.withoutTtl / node.keys), `${count(node.withoutTtl, 'key')}`));
}

function actions(id, node, page, errorNotice) {
	const { parameters } = requests.get(id) ?? {};
	const { separator } = groupingOf(parameters);
	const depth = levelsOf(node.name, separator).length + 1;
	const match = patternOf(node.name);
	const hints = [];
	if (!parameters) {
		hints.push('This analysis was started elsewhere. If it left out keys of this prefix, the actions below include them.');
	}
	else if (parameters.match && !node.name.startsWith(bytesOf(literalPrefixOf(parameters.match) ?? '\uFFFD'))) {
		hints.push(['The analysis covers only keys like ', pattern(parameters.match), '. The actions below include the other keys of this prefix.']);
	}
	const isGroup = node !== current.prefixes.root && node.children.length > 0;
	if (node.partial || (isGroup && current.report.prefixesOmitted > 0)) {
		hints.push('Some of its keys are counted with the smaller prefixes. The actions below include all of them.');
	}
	if (isGroup && current.prefixes.mixesLevels) {
		hints.push(`These numbers leave out its keys with fewer than ${parameters.depth} separators. The actions below include them.`);
	}
	const onStart = (job) => {
		sweeps.set(id, [...sweeps.get(id) ?? [], job]);
		sources.set(job.jobId, { name: truncate(displayName(bytesOf(job.match)), 60), from: hrefOf(id) });
	};
	const parts = [h('h2', { id: 'prefix-title' }, name(displayName(node.name))), hints.map((hint) => h('p', { class: 'hint' }, hint)),
		sweep(node.name, parameters?.type, page, onStart)];
	if (match !== undefined && match !== parameters?.match && depth <= MAX_DEPTH && node.name.endsWith(separator)) {
		const deeper = { ...parameters, match, depth: String(depth) };
		parts.push(h('p', { class: 'actions' }, h('button', { type: 'button', id: 'deeper', onclick: () => attempt(errorNotice, page, () => start(page, deeper, { id, at: node.name })) }, 'Analyse this prefix'),
				h('span', { class: 'hint' }, 'Shows its next prefixes, TTLs, sizes and largest keys. This scans all keys again.')),
		h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), shell(lineOf(deeper))));
	}
	return h('section', { class: 'card', 'aria-labelledby': 'prefix-title' }, parts.flat());
}

/** The name of a prefix without that of its parent. */
function relativeName(child, node) {
	return (child.name === undefined) ? child.label : displayName(child.name.startsWith(node.name) ? child.name.substring(node.name.length) : child.name);
}

function bar(share) {
	const element = h('span', { class: 'filled' });
	element.style.width = `${share * 100}%`;
	return h('span', { class: 'rail', 'aria-hidden': 'true' }, element);
}

function typesIn({ types, keys }) {
	const sorted = [...types].sort((one, other) => other[1] - one[1]);
	return (sorted.length === 1) ? sorted[0][0] : sorted.map(([type, some]) => `${type} ${percent(some / keys)}`).join(', ');
}

/** The children of a prefix, as a treemap and a table. */
function childPrefixes(id, node, hasMemory) {
	const listed = node.children.filter((child) => child.name !== undefined).length;
	const map = new Treemap('Prefixes; the table below has the same data');
	const restNote = h('span');
	const restLevel = h('span', { class: 'rest' }, 'no prefix, or several');
	const areaNote = h('span');
	const measure = () => hasMemory ? view.measure : 'keys';
	const share = (child) => child[measure()] / node[measure()];
	const words = (weight) => `${measure() === 'bytes' ? bytes(weight) : count(weight, 'key')} · ${percent(weight / node[measure()])}`;

	function drawTreemap() {
		areaNote.textContent = `Area: ${measure() === 'bytes' ? 'memory in bytes' : 'number of keys'}`;
		map.show(node.children.map((child) => ({ name: relativeName(child, node), weight: child[measure()], words: words(child[measure()]), href: child.name && hrefOf(id, child.name),
			kind: child.name ? `level-${Math.min(4, Math.floor(child.withoutTtl / child.keys * 5))}` : 'rest' })), (rest) => {
			restLevel.hidden = rest.length === 0 && node.children.length === listed;
			const weight = rest.reduce((sum, block) => sum + block.weight, 0);
			restNote.textContent = rest.length ? `The ${number(rest.length)} smallest are drawn as one block. The table lists each of them.` : '';
			return weight ? { name: `${number(rest.length)} more`, weight, words: words(weight), kind: 'rest' } : undefined;
		});
	}

	const columns = [
		{ title: 'Prefix', kind: 'wide', by: (child) => relativeName(child, node), cell: (child) => child.name ? h('a', { class: 'name', href: hrefOf(id, child.name) }, truncate(relativeName(child, node), MAX_CHARACTERS)) : h('span', { class: 'hint' }, child.label) },
		{ title: 'Share', kind: 'share', by: share, cell: (child) => h('span', {}, bar(share(child)), percent(share(child))) },
		...(hasMemory ? [{ title: 'Memory', kind: 'number', by: (child) => child.bytes, cell: (child) => bytes(child.bytes) }] : []),
		{ title: 'Keys', kind: 'number', by: (child) => child.keys, cell: (child) => number(child.keys) },
		...(hasMemory ? [{ title: 'Mean', kind: 'number', by: (child) => child.bytes / child.keys, cell: (child) => bytes(child.bytes / child.keys) }] : []),
		{ title: 'Never expire', kind: 'number', by: (child) => child.withoutTtl, cell: (child) => number(child.withoutTtl) },
		{ title: 'Types', kind: 'narrow', by: typesIn, cell: typesIn },
	];
	const rows = new VirtualTable('Prefixes', columns.map((column) => ({ ...column, title: h('button', { type: 'button', class: 'sort', onclick: () => {
		view.ascending = (view.column === column.title) ? !view.ascending : column.title === 'Prefix' || column.title === 'Types';
		view.column = column.title;
		drawTable();
	} }, column.title) })));
	const collator = new Intl.Collator('en', { numeric: true });

	function drawTable() {
		const sorted = columns.find(({ title }) => title === view.column) ?? columns[1];
		[...rows.table.tHead.rows[0].cells].forEach((head, i) => head.setAttribute('aria-sort', (columns[i] !== sorted) ? 'none' : view.ascending ? 'ascending' : 'descending'));
		const direction = view.ascending ? 1 : -1;
		rows.show(node.children.map((child) => [sorted.by(child), child])
			.sort(([one], [other]) => direction * ((typeof one === 'string') ? collator.compare(one, other) : one - other)).map(([, child]) => child));
	}

	const radio = (value, label) => h('label', {}, h('input', { type: 'radio', name: 'measure', value, checked: view.measure === value, onchange: () => {
		view.measure = value;
		drawTreemap();
		drawTable();
	} }), ` ${label}`);
	drawTreemap();
	drawTable();
	return h('section', { 'aria-labelledby': 'prefixes-title' }, h('div', { class: 'title' }, h('h2', { id: 'prefixes-title' }, listed === 1 ? '1 prefix' : `${number(listed)} prefixes`),
			hasMemory ? h('fieldset', { class: 'measure' }, h('legend', { class: 'unseen' }, 'Size of a block'), radio('bytes', 'by memory'), radio('keys', 'by keys')) : ''),
	h('p', { class: 'hint' }, 'Choose a prefix to see its details, delete its keys or let them expire.'), map.drawing,
	h('p', { class: 'levels hint' }, areaNote, 'Colour: keys that never expire, in percent of its keys',
			[0, 1, 2, 3, 4].map((level) => h('span', { class: `level-${level}` }, level < 4 ? `${level * 20} to under ${level * 20 + 20} %` : '80 to 100 %')),
			restLevel, restNote), rows.element);
}

function bars(title, rows) {
	const id = `${title.replace(/\W/g, '-').toLowerCase()}-title`;
	const max = Math.max(...rows.map(({ value }) => value), 1);
	return h('section', { class: 'card', 'aria-labelledby': id }, h('h2', { id }, title), h('table', { class: 'ranks', 'aria-labelledby': id }, h('tbody', {}, rows.map(({ label, value, words }) => h('tr', {},
			h('th', { scope: 'row' }, label), h('td', { class: 'rails' }, bar(value / max)), words.map((word) => h('td', { class: 'number' }, word)))))));
}

/** The entries without the empty ones at both ends. */
function trimmed(entries) {
	const filled = entries.map(({ keys }) => keys > 0);
	return entries.slice(filled.indexOf(true), filled.lastIndexOf(true) + 1);
}

function totals(report, node, isRoot, hasMemory) {
	// These totals include the keys of the service itself.
	const share = (keys) => percent(keys / (isRoot ? report.keys : node.keys));
	if (!isRoot) {
		return [bars('Types', [...node.types].sort((one, other) => other[1] - one[1]).map(([type, keys]) => ({ label: type, value: keys, words: [number(keys), share(keys)] })))];
	}
	return [bars('Types', report.types.map(({ type, keys, bytes: size }) => ({ label: type, value: size ?? keys, words: hasMemory ? [number(keys), bytes(size)] : [number(keys), share(keys)] }))),
		bars('TTL', report.ttls.map(({ within, keys }) => ({ label: TIMES[within] ?? within, value: keys, words: [number(keys), share(keys)] }))),
		...(hasMemory ? [bars('Size of a key', trimmed(report.sizes).map(({ upToBytes, keys }) => ({ label: `up to ${bytes(upToBytes)}`, value: keys, words: [number(keys), share(keys)] })))] : [])];
}

function largest(report, node, isRoot, isShown) {
	const keys = report.largest.filter(({ key }) => isShown(key)).map((key) => ({ ...key, name: nameOf(key.key) })).filter(({ name: one }) => one.startsWith(isRoot ? '' : node.name));
	if (keys.length === 0) {
		return [];
	}
	const rows = new VirtualTable('The largest keys', [
		{ title: 'Key', kind: 'wide', cell: (key) => name(displayName(key.name)) },
		{ title: 'Type', kind: 'narrow', cell: (key) => key.type },
		{ title: 'Memory', kind: 'number', cell: (key) => bytes(key.bytes) },
		{ title: 'Elements', kind: 'number', cell: (key) => key.elements === null ? '' : number(key.elements) },
		{ title: 'Expires in', kind: 'number', cell: (key) => key.ttlMillis === null ? 'never' : duration(key.ttlMillis) },
	]);
	rows.show(keys);
	return [h('section', { 'aria-labelledby': 'largest-title' }, h('h2', { id: 'largest-title' }, isRoot ? 'Largest keys' : `Among the ${number(report.largest.length)} largest keys of the analysis`), rows.element,
			report.elementsLeftOut ? h('p', { class: 'hint' }, `Without their elements: ${report.elementsLeftOut}`) : '')];
}
