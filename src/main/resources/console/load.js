// Load: a file, its format, its mapping with the first records as commands, and the load.

import { bytes, count, curl, duration, field, h, inputOf, notice, percent, query, shell, tell } from './page.js';
import { FORMATS, columnsOf, detect, firstRecords, isData, isRows, objectsOf, sampleOf } from './sample.js';
import { Problem, address, call, isKeyed, upload } from './service.js';

const PREVIEW_RECORDS = 5;

/** The pause of typing after which the preview is asked for. */
const PREVIEW_MILLIS = 300;

const ARGUMENTS = { ZADD: ['{score}', '{member}'], EXPIRE: ['3600'], HDEL: ['{field}'], HINCRBY: ['{field}', '{by}'], INCRBY: ['{by}'], XADD: ['*', 'row', '{*}'] };

/** Settings that the page has elsewhere, or that are for other calls. */
const ELSEWHERE = new Set(['op', 'key', 'value', 'fields', 'args', 'id', 'ttl', 'expireAt', 'nulls', 'delimiter', 'header', 'dryRun', 'results']);

/** The files of the loads that this tab has begun, and the keys of its sweeps, by the ids of their jobs. */
export const sources = new Map();

/** Whether a job was a preview only: no load of anybody, and no dry run that this tab was asked for. */
export function isPreview(status) {
	return status.dryRun && status.counts.received <= PREVIEW_RECORDS && !sources.has(status.jobId);
}

const SETTINGS = 'pipeset.settings';

/** What the page goes on with when one comes back to it. */
let kept;

/** The upload that is under way, which goes on whatever page one looks at. */
let sending;

/** Why the last one failed, until somebody has seen it. */
let failed;

addEventListener('beforeunload', (event) => {
	if (sending) {
		event.preventDefault();
	}
});

const tables = {};

/** The settings of uploads, or of other calls, a row each. */
export async function settings(name = 'settings') {
	tables[name] ??= await (await fetch(`${name}.json`)).json();
	return tables[name];
}

/** Opens the page with text to be mended, and the mapping of its load. The settings are those of the next load. */
export function mend(text, state, name) {
	kept = { ...state, settings: storedSettings(), used: kept?.used, text, blob: new Blob([text]), name, mended: true };
	location.hash = '#/load';
}

/** The settings of the next load, for records that say themselves how they are encoded, and whose times are spread already. */
export function settingsOfRecords() {
	return Object.entries(storedSettings()).filter(([name]) => name !== 'encoding' && name !== 'ttlJitter');
}

/** Has the next loads of this tab take settings, and opens the page. */
export function use(settings) {
	kept ??= { settings: storedSettings() };
	kept.used = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
	Object.assign(kept.settings, kept.used);
	storeSettings(kept.settings);
	location.hash = '#/load';
}

function storedSettings() {
	try {
		return JSON.parse(sessionStorage.getItem(SETTINGS)) ?? {};
	}
	catch {
		return {};
	}
}

function storeSettings(settings) {
	sessionStorage.setItem(SETTINGS, JSON.stringify(settings));
}

export async function load(main, page) {
	const rows = await settings();
	const operations = rows.find((row) => row.name === 'op').values;
	const state = kept ?? { settings: storedSettings() };
	let sample;
	let columns = [];
	let taken = 0;
	let asked = 0;
	let focused;

	const problems = notice();
	const file = h('input', { type: 'file', id: 'file', onchange: () => file.files[0] && take(file.files[0], file.files[0].name) });
	const text = h('textarea', { id: 'text', rows: 5, spellcheck: 'false', placeholder: 'sid,name,price\n17,Ada,4.50', oninput: paste });
	const drop = h('div', { class: 'drop', ondragover: (event) => {
		event.preventDefault();
		drop.classList.add('over');
	}, ondragleave: () => drop.classList.remove('over'), ondrop: (event) => {
		event.preventDefault();
		drop.classList.remove('over');
		const dropped = event.dataTransfer.files[0];
		if (dropped) {
			take(dropped, dropped.name);
		}
	} }, h('p', {}, h('strong', {}, 'Drop a file here'), ' or ', h('label', { for: 'file', class: 'button' }, 'choose one', file)),
	h('p', { class: 'hint' }, 'CSV, TSV, JSON, NDJSON, redis-cli commands or RESP; gzip as well. Nothing is written before you load it.'));
	const pasted = h('details', {}, h('summary', {}, 'or paste records'), h('label', { class: 'unseen', for: 'text' }, 'Records'), text);
	const chosen = h('p', { class: 'chosen', hidden: true });
	const body = h('div', { hidden: true });

	main.append(h('h1', {}, 'Load'), used(), drop, pasted, chosen, problems, body);

	/** Says that a tuning has chosen settings, as long as they are the ones of the next load. */
	function used() {
		const names = Object.keys(state.used ?? {}).filter((name) => state.settings[name] === state.used[name]);
		if (!names.length) {
			return '';
		}
		const said = h('p', { class: 'good used' }, h('span', {}, 'The next load takes ', h('code', {}, names.map((name) => `${name}=${state.used[name]}`).join(' ')), ', as the tuning recommends.'),
				h('button', { type: 'button', class: 'quiet', onclick: () => {
					names.filter((name) => state.settings[name] === state.used[name]).forEach((name) => delete state.settings[name]);
					storeSettings(state.settings);
					delete state.used;
					said.remove();
					if (state.blob) {
						show();
					}
					file.focus();
				} }, 'Leave them out'));
		return said;
	}

	function paste() {
		if (text.value.trim()) {
			take(new Blob([text.value]), 'pasted records', true);
		}
	}

	async function take(blob, name, typed = false) {
		const mine = ++taken;
		let found;
		try {
			found = await sampleOf(blob);
		}
		catch (error) {
			if (mine === taken) {
				problems.say(`'${name}' cannot be read (${error.message}): choose another file.`);
			}
			return;
		}
		if (mine !== taken) {
			return;
		}
		sample = found;
		if (!typed) {
			text.value = '';
			pasted.open = false;
		}
		Object.assign(state, { blob, name: (typed && state.mended) ? state.name : name, text: typed ? text.value : undefined, gzip: sample.gzip, mended: typed && state.mended });
		if (sample.bytes.length === 0) {
			problems.say('There is nothing in it: choose another file.');
			return;
		}
		// Whoever goes on typing, or mends rows, has chosen already.
		if (!typed || !(state.touched || state.mended)) {
			state.touched = false;
			Object.assign(state, detect(sample, name, operations));
			guess();
		}
		kept = state;
		show();
	}

	/** A mapping to begin with. */
	function guess() {
		columns = columnsOf(sample, state);
		const has = (...names) => names.every((name) => columns.includes(name));
		const first = objectsOf(new TextDecoder().decode(sample.bytes), state.type)[0];
		state.names = columns.join(',');
		Object.assign(state, { key: '', value: '', fields: '', args: '', ttl: '', expireAt: '', id: '', nulls: '' });
		// Whoever types a record has no column yet.
		if (columns.length === 0 || !isData(state.type) || Array.isArray(first) || has('op') || (first && has('key') && (has('value') || has('args') || Object.hasOwn(first, 'fields')))) {
			state.op = (first && !Array.isArray(first) && !has('op') && isData(state.type)) ? (has('value') ? 'SET' : 'HSET') : '';
			state.templates = false;
			return;
		}
		const id = columns.find((name) => /^(key|id|sid|sku|uuid)$/i.test(name)) ?? columns.find((name) => /(_|^|[a-z])id$/i.test(name)) ?? columns[0];
		const stem = (state.name ?? '').split('.')[0].toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/s$/, '');
		const isKey = id.toLowerCase() === 'key';
		const moment = columns.find((name) => /^expires?_?at$/i.test(name));
		const values = columns.filter((name) => name !== id && name !== moment && name.toLowerCase() !== 'ttl');
		state.templates = true;
		state.op = (values.length === 1) ? 'SET' : 'HSET';
		state.key = (isKey || !/^[a-z]/.test(stem) || stem.startsWith('pasted')) ? (isKey ? `{${id}}` : `record:{${id}}`) : `${stem}:{${id}}`;
		state.value = (values.length === 1) ? `{${values[0]}}` : '{*}';
		state.fields = (isKey || has('ttl') || moment) ? values.map(quotedName).join(',') : '';
		state.ttl = has('ttl') ? '{ttl}' : '';
		state.expireAt = moment && !state.ttl ? `{${moment}}` : '';
	}

	function quotedName(name) {
		return /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
	}

	/** The parameters of the load, but for those of the preview. */
	function parameters() {
		const found = [];
		const add = (name, value) => value && found.push([name, value]);
		add('op', state.op);
		if (state.type === 'text/csv' && state.delimiter !== ',') {
			add('delimiter', state.delimiter === '\t' ? 'tab' : state.delimiter);
		}
		if (isRows(state.type) && !state.header) {
			add('header', state.names);
		}
		if (mapped()) {
			add('key', state.key);
			if (state.op === 'SET') {
				add('value', state.value);
			}
			else if (state.op === 'HSET') {
				add('fields', state.fields);
			}
			else {
				state.args.split('\n').filter((line) => line).forEach((line) => add('args', line));
			}
			add('id', state.id);
		}
		if (mayExpire()) {
			add('ttl', state.ttl);
			add('expireAt', state.expireAt);
		}
		if (isData(state.type)) {
			add('nulls', state.nulls);
		}
		const expires = mayExpire() && (state.ttl || state.expireAt || (isData(state.type) && !mapped()));
		for (const [name, value] of Object.entries(state.settings)) {
			if (name !== 'ttlJitter' || expires) {
				add(name, value);
			}
		}
		return found;
	}

	/** Whether the records of the load may expire by its settings. */
	function mayExpire() {
		return !state.op || state.op === 'SET' || state.op === 'HSET';
	}

	function mapped() {
		return state.templates && Boolean(state.op) && isData(state.type);
	}

	function headers() {
		return { 'Content-Type': state.type, ...(state.gzip ? { 'Content-Encoding': 'gzip' } : {}) };
	}

	function bound(name, input) {
		input.value = state[name] ?? '';
		input.addEventListener('input', () => {
			state[name] = input.value;
			state.touched = true;
			later();
		});
		input.addEventListener('focus', () => focused = input);
		return input;
	}

	function choice(name, options, changed) {
		const select = h('select', { onchange: () => {
			state[name] = select.value;
			state.touched = true;
			changed();
		} }, options.map(([value, label]) => h('option', { value, selected: value === (state[name] ?? '') }, label)));
		return select;
	}

	/** Draws everything below the file, which its format and operation decide. */
	function show() {
		problems.say();
		columns = columnsOf(sample, state);
		chosen.hidden = false;
		chosen.replaceChildren(h('strong', {}, state.name), ` ${bytes(state.blob.size)}${state.gzip ? ', gzip' : ''} `,
				h('span', { class: 'hint' }, state.mended ? 'Mend the rows above, and load them.' : `found: ${FORMATS[state.type]}${delimiterWords()}`));
		body.hidden = false;
		body.replaceChildren(
				h('section', { 'aria-labelledby': 'format-title' }, h('h2', { id: 'format-title' }, 'Format'), format()),
				h('section', { 'aria-labelledby': 'mapping-title' }, h('h2', { id: 'mapping-title' }, 'Mapping'), mapping()),
				preview, options(), act);
		tell(`${state.name}: ${FORMATS[state.type]}`);
		showSending();
		later(0);
	}

	function delimiterWords() {
		const words = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'bars' };
		if (!isRows(state.type)) {
			return '';
		}
		return ` with ${words[state.delimiter] ?? state.delimiter}, ${state.header ? 'a row of names' : 'no row of names'}, ${count(columns.length, 'column')}`;
	}

	function format() {
		const fields = [field('type', 'Format', choice('type', Object.entries(FORMATS), () => {
			state.delimiter = (state.type === 'text/tab-separated-values') ? '\t' : detect(sample, '', operations).delimiter;
			guess();
			show();
		}))];
		if (state.type === 'text/csv') {
			fields.push(field('delimiter', 'Separator', choice('delimiter', [[',', 'comma ,'], [';', 'semicolon ;'], ['\t', 'tab'], ['|', 'bar |']], () => {
				guess();
				show();
			})));
		}
		if (isRows(state.type)) {
			const box = h('input', { type: 'checkbox', id: 'field-header', checked: state.header, onchange: () => {
				state.header = box.checked;
				state.touched = true;
				guess();
				show();
			} });
			fields.push(h('div', { class: 'field check' }, h('label', { for: 'field-header' }, box, ' The first row has the names')));
			if (!state.header) {
				fields.push(field('names', 'Names of the columns', bound('names', h('input')), 'with commas between them'));
			}
		}
		return h('div', { class: 'fields' }, fields);
	}

	function mapping() {
		const own = isRows(state.type) && !columns.includes('op') ? [] : [['', 'as each record says']];
		const fields = [field('op', 'Operation', choice('op', [...own, ...operations.map((name) => [name, name])], () => {
			if (state.op && isData(state.type)) {
				state.templates = true;
				state.key ||= columns.length ? `record:{${columns[0]}}` : '';
				state.value ||= '{*}';
				state.args ||= (ARGUMENTS[state.op] ?? (/PUSH|SADD|SREM|PFADD|ZREM/.test(state.op) ? ['{*}'] : [])).join('\n');
			}
			show();
		}))];
		if (mapped()) {
			fields.push(field('key', 'Key', bound('key', h('input', { spellcheck: 'false', required: true })), 'a template such as session:{sid}'));
			if (state.op === 'SET') {
				fields.push(field('value', 'Value', bound('value', h('input', { spellcheck: 'false' })), '{*} is the whole row as JSON'));
			}
			else if (state.op === 'HSET') {
				fields.push(field('fields', 'Fields', bound('fields', h('input', { spellcheck: 'false', placeholder: 'all' })), 'names with commas between them; all if empty'));
			}
			else {
				fields.push(field('args', 'Arguments', bound('args', h('textarea', { rows: 2, spellcheck: 'false' })), 'a template a line, in the order of the command'));
			}
		}
		if (mayExpire()) {
			fields.push(field('ttl', 'Expires after', bound('ttl', h('input', { spellcheck: 'false', placeholder: 'never' })), mapped() ? '90s, 1h, 7d, or a template such as {ttl}' : '90s, 1h, 7d'));
			fields.push(field('expireAt', 'Expires at', bound('expireAt', h('input', { spellcheck: 'false', placeholder: 'never' })), mapped() ? 'instead: a moment such as 2100-01-01T00:00:00Z, or a template such as {expires_at}' : 'instead: a moment such as 2100-01-01T00:00:00Z'));
		}
		if (mapped()) {
			fields.push(field('id', 'Name in the report', bound('id', h('input', { spellcheck: 'false', placeholder: 'its line' })), 'a template, by which you find a record again'));
			fields.push(field('nulls', 'Empty cells and nulls', choice('nulls', [['', 'refuse the record'], ['skip', 'leave them out'], ['empty', 'take them for empty strings']], later)));
		}
		if (state.op && isData(state.type) && (!isRows(state.type) || columns.includes('key'))) {
			const box = h('input', { type: 'checkbox', id: 'field-templates', checked: state.templates, onchange: () => {
				state.templates = box.checked;
				state.touched = true;
				show();
			} });
			fields.push(h('div', { class: 'field check' }, h('label', { for: 'field-templates' }, box, ' Templates make the records')));
		}
		const chips = mapped() && columns.length ? h('div', { class: 'chips', role: 'group', 'aria-label': 'Columns, to put where you type' },
				h('span', { class: 'hint' }, isRows(state.type) ? 'Columns, to put where you type:' : 'Members, to put where you type:'), columns.map((name) => h('button', { type: 'button', class: 'chip', onclick: () => put(name) }, name))) : null;
		return [h('div', { class: 'fields' }, fields), chips];
	}

	/** Puts a column into the template that has the focus. */
	function put(name) {
		const input = (focused?.isConnected) ? focused : body.querySelector('#field-key');
		const isList = input.id === 'field-fields';
		const word = isList ? (input.value && !input.value.endsWith(',') ? ',' : '') + quotedName(name) : `{${name}}`;
		input.setRangeText(word, input.selectionStart, input.selectionEnd, 'end');
		input.dispatchEvent(new Event('input'));
		input.focus();
	}

	const commands = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The first records as commands' });
	const mistaken = notice();
	const preview = h('section', { 'aria-labelledby': 'preview-title' }, h('h2', { id: 'preview-title' }, 'The first records'), mistaken, commands);

	const dryLine = shell('');
	const line = shell('');
	const dry = h('button', { type: 'button', onclick: () => send(true) }, 'Dry run');
	const go = h('button', { type: 'button', class: 'main', id: 'go', onclick: () => send(false) }, 'Load');
	const sent = h('div', { hidden: true });
	const unsent = notice();
	const act = h('section', { 'aria-labelledby': 'act-title' }, h('h2', { id: 'act-title', class: 'unseen' }, 'Load'),
			h('p', { class: 'actions' }, go, dry, h('span', { class: 'hint' }, 'A dry run checks every record and writes nothing.')),
			unsent, sent, h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), h('p', {}, 'Load'), line, h('p', {}, 'Dry run'), dryLine));

	function options() {
		const fields = rows.filter((row) => !ELSEWHERE.has(row.name)).map((row) => {
			const value = state.settings[row.name] ?? '';
			const input = inputOf(row, value);
			input.dataset.setting = row.name;
			input.addEventListener('input', () => {
				if (input.value) {
					state.settings[row.name] = input.value;
				}
				else {
					delete state.settings[row.name];
				}
				storeSettings(state.settings);
				later();
			});
			return field(row.name, row.name, input, row.meaning);
		});
		return h('details', { class: 'settings', open: state.open || Object.keys(state.settings).length > 0, ontoggle: (event) => state.open = event.target.open }, h('summary', {}, 'Settings'), h('div', { class: 'fields wide' }, fields));
	}

	let timer;

	function later(millis = PREVIEW_MILLIS) {
		clearTimeout(timer);
		const url = address(`v1/jobs?${query(parameters())}`).replace(/\?$/, '');
		const common = { method: 'POST', headers: { ...headers(), Prefer: 'respond-async' }, file: state.text === undefined ? state.name : 'records', keyed: isKeyed() };
		line.say(curl({ ...common, url }));
		dryLine.say(curl({ ...common, url: url + (url.includes('?') ? '&' : '?') + 'dryRun=true' }));
		timer = setTimeout(look, typeof millis === 'number' ? millis : PREVIEW_MILLIS);
	}

	/** Asks the service what the first records are. */
	async function look() {
		const mine = ++asked;
		let report;
		try {
			const asking = parameters().filter(([name]) => name !== 'rateLimit' && name !== 'maxErrors');
			asking.push(['dryRun', 'true'], ['results', 'all']);
			const response = await call('POST', `v1/jobs?${query(asking)}`,
					{ headers: { 'Content-Type': state.type }, body: firstRecords(sample, state, PREVIEW_RECORDS), signal: page });
			report = await response.json();
			if (mine === asked) {
				mistaken.say();
			}
		}
		catch (error) {
			if (page.aborted || mine !== asked) {
				return;
			}
			mistaken.say(error.message);
			report = error.job;
		}
		if (mine !== asked) {
			return;
		}
		if (report?.settings) {
			for (const input of body.querySelectorAll('[data-setting]')) {
				const now = report.settings[input.dataset.setting];
				if (now !== undefined && !state.settings[input.dataset.setting]) {
					input.placeholder = String(now);
				}
			}
		}
		commands.replaceChildren(...(report?.items ?? []).length ? [listed(report.items)] : []);
		commands.hidden = !report?.items?.length;
	}

	function listed(items) {
		return h('table', { class: 'commands' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, items[0].line ? 'Line' : '#'), h('th', { scope: 'col' }, 'Command'))),
				h('tbody', {}, items.map((item) => h('tr', { class: item.error ? 'wrong' : '' }, h('td', { class: 'number' }, String(item.line ?? item.index)),
						h('td', {}, item.error ? [h('strong', {}, item.error.code), ` ${item.error.message}`] : command(item))))));
	}

	async function send(isDry) {
		const wrong = body.querySelector(':invalid');
		if (wrong) {
			wrong.closest('details')?.setAttribute('open', '');
			wrong.reportValidity();
			return;
		}
		const all = parameters();
		if (isDry) {
			all.push(['dryRun', 'true']);
		}
		const stop = new AbortController();
		const bar = h('progress', { max: 1, value: 0, 'aria-label': 'The upload' });
		const words = h('span', {});
		const began = performance.now();
		const { blob, name } = state;
		const upon = { ...state };
		problems.say();
		unsent.say();
		sending = h('div', { class: 'sending' }, h('strong', {}, name), bar, words, h('button', { type: 'button', onclick: () => stop.abort() }, 'Stop the upload'));
		showSending();
		try {
			const job = await upload(`v1/jobs?${query(all)}`, { ...headers(), Prefer: 'respond-async' }, blob, (done, total) => {
				bar.value = total ? done / total : 1;
				const pace = done / (performance.now() - began);
				words.textContent = `${percent(bar.value)} of ${bytes(total)} uploaded, ${bytes(pace * 1000)}/s${done < total ? `, ${duration((total - done) / pace)} left` : ''}`;
			}, stop.signal);
			sources.set(job.jobId, upon);
			if (upon.mended && !isDry && kept?.blob === blob) {
				// They are loaded: nobody wants to load them once more.
				kept = { settings: upon.settings, used: upon.used };
			}
			sending = undefined;
			if (location.hash === '#/load') {
				location.hash = `#/jobs/${job.jobId}`;
			}
		}
		catch (error) {
			sending = undefined;
			if (!(error instanceof Problem)) {
				throw error;
			}
			failed = error.message;
			dispatchEvent(new Event('upload'));
		}
	}

	/** Shows the upload that is under way, or how it failed; it may have begun on this page at another time. */
	function showSending() {
		sent.hidden = !sending;
		sent.replaceChildren(...sending ? [sending] : []);
		go.disabled = dry.disabled = Boolean(sending);
		if (failed) {
			unsent.say(failed);
			unsent.scrollIntoView({ block: 'nearest' });
			failed = undefined;
		}
	}

	addEventListener('upload', showSending, { signal: page });

	if (state.blob) {
		text.value = state.text ?? '';
		pasted.open = state.text !== undefined;
		const found = await sampleOf(state.blob);
		// Another file may have been chosen meanwhile.
		if (taken) {
			return;
		}
		sample = found;
		show();
		if (state.mended) {
			text.focus();
		}
	}
}

/** A command as one types it, its key set apart. */
function command(item) {
	const words = item.command.map((word) => (typeof word === 'object') ? JSON.stringify(word) : String(word));
	let note = null;
	if (item.op === 'HSET' && words[0] === 'EVALSHA') {
		// One call of a script does both.
		const seconds = words[4];
		words.splice(0, 5, 'HSET', words[3]);
		note = h('span', { class: 'hint' }, ` and EXPIRE ${seconds}`);
	}
	const shown = words.map((word, i) => {
		const short = (word.length > 200) ? `${word.substring(0, 200)}… (${bytes(word.length)})` : word;
		const text = /^[^\s"'\\]+$/.test(short) ? short : JSON.stringify(short);
		return h('span', { class: i === 0 ? 'op' : (word === item.key) ? 'key' : '' }, text);
	});
	return h('code', {}, shown.flatMap((word, i) => i ? [' ', word] : [word]), note);
}
