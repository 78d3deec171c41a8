// The page Load: a file, its format, its mapping, a preview as commands, and the upload.

import { announce, bytes, count, curl, duration, field, h, inputOf, notice, percent, query, shell } from './page.js';
import { FORMATS, columnsOf, detect, firstRecords, isData, isRows, objectsOf, sampleOf } from './sample.js';
import { Problem, address, call, isKeyed, upload } from './service.js';

const PREVIEW_RECORDS = 5;

/** The preview is refreshed when the user has not typed for this long. */
const PREVIEW_DELAY_MILLIS = 300;

const DEFAULT_ARGUMENTS = { ZADD: ['{score}', '{member}'], EXPIRE: ['3600'], HDEL: ['{field}'], HINCRBY: ['{field}', '{by}'], INCRBY: ['{by}'], XADD: ['*', 'row', '{*}'] };

/** Settings that have their own inputs, or that are for other calls. */
const NOT_IN_SETTINGS = new Set(['op', 'key', 'value', 'fields', 'args', 'id', 'ttl', 'expireAt', 'nulls', 'delimiter', 'header', 'dryRun', 'results']);

/** What each job of this tab processes: a file or the keys of a sweep, by job ID. */
export const sources = new Map();

/** Whether a job is only a preview. Dry runs that a user of this tab started are not. */
export function isPreview(status) {
	return status.dryRun && status.counts.received <= PREVIEW_RECORDS && !sources.has(status.jobId);
}

const SETTINGS_KEY = 'pipeset.settings';

/** The state of the page, for when the user comes back to it. */
let savedState;

/** The current upload, which continues while the user is on other pages. */
let activeUpload;

/** Why the last upload failed, if not yet shown. */
let uploadFailure;

addEventListener('beforeunload', (event) => {
	if (activeUpload) {
		event.preventDefault();
	}
});

const settingTables = {};

export async function fetchSettings(name = 'settings') {
	settingTables[name] ??= await (await fetch(`${name}.json`)).json();
	return settingTables[name];
}

/** Opens the page with rows to fix, the mapping of their load, and the settings of the next load. */
export function fixRows(text, state, name) {
	savedState = { ...state, settings: storedSettings(), tunedSettings: savedState?.tunedSettings, text, blob: new Blob([text]), name, isFix: true };
	location.hash = '#/load';
}

/** The settings of the next load for repeated records, which name their encoding, and whose expiry includes the jitter. */
export function settingsOfRecords() {
	return Object.entries(storedSettings()).filter(([name]) => name !== 'encoding' && name !== 'ttlJitter');
}

/** Sets the settings of the next loads of this tab, and opens the page. */
export function useSettings(settings) {
	savedState ??= { settings: storedSettings() };
	savedState.tunedSettings = Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));
	Object.assign(savedState.settings, savedState.tunedSettings);
	storeSettings(savedState.settings);
	location.hash = '#/load';
}

function storedSettings() {
	try {
		return JSON.parse(sessionStorage.getItem(SETTINGS_KEY)) ?? {};
	}
	catch {
		return {};
	}
}

function storeSettings(settings) {
	sessionStorage.setItem(SETTINGS_KEY, JSON.stringify(settings));
}

export async function load(main, page) {
	const rows = await fetchSettings();
	const operations = rows.find((row) => row.name === 'op').values;
	const state = savedState ?? { settings: storedSettings() };
	let sample;
	let columns = [];
	let lastChoice = 0;
	let lastPreview = 0;
	let focusedInput;

	const fileErrorNotice = notice();
	const file = h('input', { type: 'file', id: 'file', onchange: () => file.files[0] && chooseFile(file.files[0], file.files[0].name) });
	const text = h('textarea', { id: 'text', rows: 5, spellcheck: 'false', placeholder: 'sid,name,price\n17,Ada,4.50', oninput: paste });
	const drop = h('div', { class: 'drop', ondragover: (event) => {
		event.preventDefault();
		drop.classList.add('over');
	}, ondragleave: () => drop.classList.remove('over'), ondrop: (event) => {
		event.preventDefault();
		drop.classList.remove('over');
		const dropped = event.dataTransfer.files[0];
		if (dropped) {
			chooseFile(dropped, dropped.name);
		}
	} }, h('p', {}, h('strong', {}, 'Drop a file here'), ' or ', h('label', { for: 'file', class: 'button' }, 'choose one', file)),
	h('p', { class: 'hint' }, 'CSV, TSV, JSON, NDJSON, redis-cli commands or RESP, also as gzip. Nothing is written until you load it.'));
	const pasted = h('details', {}, h('summary', {}, 'or paste records'), h('label', { class: 'unseen', for: 'text' }, 'Records'), text);
	const chosen = h('p', { class: 'chosen', hidden: true });
	const body = h('div', { hidden: true });

	main.append(h('h1', {}, 'Load'), tunedNotice(), drop, pasted, chosen, fileErrorNotice, body);

	/** Shows the settings from a tuning while the next load uses them. */
	function tunedNotice() {
		const names = Object.keys(state.tunedSettings ?? {}).filter((name) => state.settings[name] === state.tunedSettings[name]);
		if (!names.length) {
			return '';
		}
		const element = h('p', { class: 'good used' }, h('span', {}, 'The next load uses ', h('code', {}, names.map((name) => `${name}=${state.tunedSettings[name]}`).join(' ')), ' from the tuning.'),
				h('button', { type: 'button', class: 'quiet', onclick: () => {
					names.filter((name) => state.settings[name] === state.tunedSettings[name]).forEach((name) => delete state.settings[name]);
					storeSettings(state.settings);
					delete state.tunedSettings;
					element.remove();
					if (state.blob) {
						show();
					}
					file.focus();
				} }, 'Remove them'));
		return element;
	}

	function paste() {
		if (text.value.trim()) {
			chooseFile(new Blob([text.value]), 'pasted records', true);
		}
	}

	async function chooseFile(blob, name, typed = false) {
		const thisChoice = ++lastChoice;
		let found;
		try {
			found = await sampleOf(blob);
		}
		catch (error) {
			if (thisChoice === lastChoice) {
				fileErrorNotice.setText(`'${name}' cannot be read (${error.message}). Choose another file.`);
			}
			return;
		}
		if (thisChoice !== lastChoice) {
			return;
		}
		sample = found;
		if (!typed) {
			text.value = '';
			pasted.open = false;
		}
		Object.assign(state, { blob, name: (typed && state.isFix) ? state.name : name, text: typed ? text.value : undefined, gzip: sample.gzip, isFix: typed && state.isFix });
		if (sample.bytes.length === 0) {
			fileErrorNotice.setText('This file is empty. Choose another file.');
			return;
		}
		// While the user types or fixes rows, keep the chosen format and mapping.
		if (!typed || !(state.touched || state.isFix)) {
			state.touched = false;
			Object.assign(state, detect(sample, name, operations));
			guessMapping();
		}
		savedState = state;
		show();
	}

	function guessMapping() {
		columns = columnsOf(sample, state);
		const has = (...names) => names.every((name) => columns.includes(name));
		const first = objectsOf(new TextDecoder().decode(sample.bytes), state.type)[0];
		state.names = columns.join(',');
		Object.assign(state, { key: '', value: '', fields: '', args: '', ttl: '', expireAt: '', id: '', nulls: '' });
		// A record that the user is typing has no columns yet.
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

	/** The parameters of the load, without those for a dry run. */
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
		if (usesTemplates()) {
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
		const expires = mayExpire() && (state.ttl || state.expireAt || (isData(state.type) && !usesTemplates()));
		for (const [name, value] of Object.entries(state.settings)) {
			if (name !== 'ttlJitter' || expires) {
				add(name, value);
			}
		}
		return found;
	}

	function mayExpire() {
		return !state.op || state.op === 'SET' || state.op === 'HSET';
	}

	function usesTemplates() {
		return state.templates && Boolean(state.op) && isData(state.type);
	}

	function headers() {
		return { 'Content-Type': state.type, ...(state.gzip ? { 'Content-Encoding': 'gzip' } : {}) };
	}

	function boundInput(name, input) {
		input.value = state[name] ?? '';
		input.addEventListener('input', () => {
			state[name] = input.value;
			state.touched = true;
			schedulePreview();
		});
		input.addEventListener('focus', () => focusedInput = input);
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

	/** Draws all parts that depend on the file, its format and its operation. */
	function show() {
		fileErrorNotice.setText();
		columns = columnsOf(sample, state);
		chosen.hidden = false;
		chosen.replaceChildren(h('strong', {}, state.name), ` ${bytes(state.blob.size)}${state.gzip ? ', gzip' : ''} `,
				h('span', { class: 'hint' }, state.isFix ? 'Fix the rows above, then load them.' : `detected: ${FORMATS[state.type]}${delimiterWords()}`));
		body.hidden = false;
		body.replaceChildren(
				h('section', { 'aria-labelledby': 'format-title' }, h('h2', { id: 'format-title' }, 'Format'), format()),
				h('section', { 'aria-labelledby': 'mapping-title' }, h('h2', { id: 'mapping-title' }, 'Mapping'), mapping()),
				preview, options(), act);
		announce(`${state.name}: ${FORMATS[state.type]}`);
		showUpload();
		schedulePreview(0);
	}

	function delimiterWords() {
		const words = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' };
		if (!isRows(state.type)) {
			return '';
		}
		return ` with ${words[state.delimiter] ?? state.delimiter}, ${state.header ? 'a header row' : 'no header row'}, ${count(columns.length, 'column')}`;
	}

	function format() {
		const fields = [field('type', 'Format', choice('type', Object.entries(FORMATS), () => {
			state.delimiter = (state.type === 'text/tab-separated-values') ? '\t' : detect(sample, '', operations).delimiter;
			guessMapping();
			show();
		}))];
		if (state.type === 'text/csv') {
			fields.push(field('delimiter', 'Separator', choice('delimiter', [[',', 'comma ,'], [';', 'semicolon ;'], ['\t', 'tab'], ['|', 'vertical bar |']], () => {
				guessMapping();
				show();
			})));
		}
		if (isRows(state.type)) {
			const box = h('input', { type: 'checkbox', id: 'field-header', checked: state.header, onchange: () => {
				state.header = box.checked;
				state.touched = true;
				guessMapping();
				show();
			} });
			fields.push(h('div', { class: 'field check' }, h('label', { for: 'field-header' }, box, ' The first row is a header')));
			if (!state.header) {
				fields.push(field('names', 'Column names', boundInput('names', h('input')), 'separated by commas'));
			}
		}
		return h('div', { class: 'fields' }, fields);
	}

	function mapping() {
		const anyOperation = isRows(state.type) && !columns.includes('op') ? [] : [['', 'set in each record']];
		const fields = [field('op', 'Operation', choice('op', [...anyOperation, ...operations.map((name) => [name, name])], () => {
			if (state.op && isData(state.type)) {
				state.templates = true;
				state.key ||= columns.length ? `record:{${columns[0]}}` : '';
				state.value ||= '{*}';
				state.args ||= (DEFAULT_ARGUMENTS[state.op] ?? (/PUSH|SADD|SREM|PFADD|ZREM/.test(state.op) ? ['{*}'] : [])).join('\n');
			}
			show();
		}))];
		if (usesTemplates()) {
			fields.push(field('key', 'Key', boundInput('key', h('input', { spellcheck: 'false', required: true })), 'a template such as session:{sid}'));
			if (state.op === 'SET') {
				fields.push(field('value', 'Value', boundInput('value', h('input', { spellcheck: 'false' })), '{*} is the whole row as JSON'));
			}
			else if (state.op === 'HSET') {
				fields.push(field('fields', 'Fields', boundInput('fields', h('input', { spellcheck: 'false', placeholder: 'all' })), 'names separated by commas; all if empty'));
			}
			else {
				fields.push(field('args', 'Arguments', boundInput('args', h('textarea', { rows: 2, spellcheck: 'false' })), 'one template a line, in the order of the command'));
			}
		}
		if (mayExpire()) {
			fields.push(field('ttl', 'Expires after', boundInput('ttl', h('input', { spellcheck: 'false', placeholder: 'never' })), usesTemplates() ? '90s, 1h, 7d, or a template such as {ttl}' : '90s, 1h, 7d'));
			fields.push(field('expireAt', 'Expires at', boundInput('expireAt', h('input', { spellcheck: 'false', placeholder: 'never' })), usesTemplates() ? 'instead of a duration: a time such as 2100-01-01T00:00:00Z, or a template such as {expires_at}' : 'instead of a duration: a time such as 2100-01-01T00:00:00Z'));
		}
		if (usesTemplates()) {
			fields.push(field('id', 'ID in the report', boundInput('id', h('input', { spellcheck: 'false', placeholder: 'line number' })), 'a template that identifies the record'));
			fields.push(field('nulls', 'Empty cells and nulls', choice('nulls', [['', 'refuse the record'], ['skip', 'leave them out'], ['empty', 'use empty strings']], schedulePreview)));
		}
		if (state.op && isData(state.type) && (!isRows(state.type) || columns.includes('key'))) {
			const box = h('input', { type: 'checkbox', id: 'field-templates', checked: state.templates, onchange: () => {
				state.templates = box.checked;
				state.touched = true;
				show();
			} });
			fields.push(h('div', { class: 'field check' }, h('label', { for: 'field-templates' }, box, ' Make records by templates')));
		}
		const chips = usesTemplates() && columns.length ? h('div', { class: 'chips', role: 'group', 'aria-label': 'Columns to insert' },
				h('span', { class: 'hint' }, isRows(state.type) ? 'Columns to insert:' : 'Members to insert:'), columns.map((name) => h('button', { type: 'button', class: 'chip', onclick: () => insertColumn(name) }, name))) : null;
		return [h('div', { class: 'fields' }, fields), chips];
	}

	function insertColumn(name) {
		const input = (focusedInput?.isConnected) ? focusedInput : body.querySelector('#field-key');
		const isList = input.id === 'field-fields';
		const word = isList ? (input.value && !input.value.endsWith(',') ? ',' : '') + quotedName(name) : `{${name}}`;
		input.setRangeText(word, input.selectionStart, input.selectionEnd, 'end');
		input.dispatchEvent(new Event('input'));
		input.focus();
	}

	const commands = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The first records as commands' });
	const errorNotice = notice();
	const preview = h('section', { 'aria-labelledby': 'preview-title' }, h('h2', { id: 'preview-title' }, 'The first records'), errorNotice, commands);

	const dryRunLine = shell('');
	const line = shell('');
	const dryRunButton = h('button', { type: 'button', onclick: () => send(true) }, 'Dry run');
	const loadButton = h('button', { type: 'button', class: 'main', id: 'go', onclick: () => send(false) }, 'Load');
	const uploadArea = h('div', { hidden: true });
	const uploadErrorNotice = notice();
	const act = h('section', { 'aria-labelledby': 'act-title' }, h('h2', { id: 'act-title', class: 'unseen' }, 'Load'),
			h('p', { class: 'actions' }, loadButton, dryRunButton, h('span', { class: 'hint' }, 'A dry run checks every record and writes nothing.')),
			uploadErrorNotice, uploadArea, h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), h('p', {}, 'Load'), line, h('p', {}, 'Dry run'), dryRunLine));

	function options() {
		const fields = rows.filter((row) => !NOT_IN_SETTINGS.has(row.name)).map((row) => {
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
				schedulePreview();
			});
			return field(row.name, row.name, input, row.meaning);
		});
		return h('details', { class: 'settings', open: state.open || Object.keys(state.settings).length > 0, ontoggle: (event) => state.open = event.target.open }, h('summary', {}, 'Settings'), h('div', { class: 'fields wide' }, fields));
	}

	let timer;

	function schedulePreview(millis = PREVIEW_DELAY_MILLIS) {
		clearTimeout(timer);
		const url = address(`v1/jobs?${query(parameters())}`).replace(/\?$/, '');
		const common = { method: 'POST', headers: { ...headers(), Prefer: 'respond-async' }, file: state.text === undefined ? state.name : 'records', keyed: isKeyed() };
		line.setText(curl({ ...common, url }));
		dryRunLine.setText(curl({ ...common, url: url + (url.includes('?') ? '&' : '?') + 'dryRun=true' }));
		timer = setTimeout(refreshPreview, typeof millis === 'number' ? millis : PREVIEW_DELAY_MILLIS);
	}

	/** Has the service convert the first records to commands. */
	async function refreshPreview() {
		const thisPreview = ++lastPreview;
		let report;
		try {
			const previewParameters = parameters().filter(([name]) => name !== 'rateLimit' && name !== 'maxErrors');
			previewParameters.push(['dryRun', 'true'], ['results', 'all']);
			const response = await call('POST', `v1/jobs?${query(previewParameters)}`,
					{ headers: { 'Content-Type': state.type }, body: firstRecords(sample, state, PREVIEW_RECORDS), signal: page });
			report = await response.json();
			if (thisPreview === lastPreview) {
				errorNotice.setText();
			}
		}
		catch (error) {
			if (page.aborted || thisPreview !== lastPreview) {
				return;
			}
			errorNotice.setText(error.message);
			report = error.job;
		}
		if (thisPreview !== lastPreview) {
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
		commands.replaceChildren(...(report?.items ?? []).length ? [previewTable(report.items)] : []);
		commands.hidden = !report?.items?.length;
	}

	function previewTable(items) {
		return h('table', { class: 'commands' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, items[0].line ? 'Line' : '#'), h('th', { scope: 'col' }, 'Command'))),
				h('tbody', {}, items.map((item) => h('tr', { class: item.error ? 'wrong' : '' }, h('td', { class: 'number' }, String(item.line ?? item.index)),
						h('td', {}, item.error ? [h('strong', {}, item.error.code), ` ${item.error.message}`] : command(item))))));
	}

	async function send(isDry) {
		const invalid = body.querySelector(':invalid');
		if (invalid) {
			invalid.closest('details')?.setAttribute('open', '');
			invalid.reportValidity();
			return;
		}
		const all = parameters();
		if (!state.settings.label && /^[^\p{C}]{1,120}$/u.test(state.name)) {
			all.push(['label', state.name]);
		}
		if (isDry) {
			all.push(['dryRun', 'true']);
		}
		const stop = new AbortController();
		const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Upload' });
		const words = h('span', {});
		const began = performance.now();
		const { blob, name } = state;
		const source = { ...state };
		fileErrorNotice.setText();
		uploadErrorNotice.setText();
		activeUpload = h('div', { class: 'sending' }, h('strong', {}, name), bar, words, h('button', { type: 'button', onclick: () => stop.abort() }, 'Stop the upload'));
		showUpload();
		try {
			const job = await upload(`v1/jobs?${query(all)}`, { ...headers(), Prefer: 'respond-async' }, blob, (done, total) => {
				bar.value = total ? done / total : 1;
				const speed = done / (performance.now() - began);
				words.textContent = `${percent(bar.value)} of ${bytes(total)} uploaded, ${bytes(speed * 1000)}/s${done < total ? `, ${duration((total - done) / speed)} left` : ''}`;
			}, stop.signal);
			sources.set(job.jobId, source);
			if (source.isFix && !isDry && savedState?.blob === blob) {
				// The fixed rows are loaded, so the page need not keep them.
				savedState = { settings: source.settings, tunedSettings: source.tunedSettings };
			}
			activeUpload = undefined;
			if (location.hash === '#/load') {
				location.hash = `#/jobs/${job.jobId}`;
			}
		}
		catch (error) {
			activeUpload = undefined;
			if (!(error instanceof Problem)) {
				throw error;
			}
			uploadFailure = error.message;
			dispatchEvent(new Event('upload'));
		}
	}

	/** Shows the current upload, or why it failed. It may have begun on an earlier visit to this page. */
	function showUpload() {
		uploadArea.hidden = !activeUpload;
		uploadArea.replaceChildren(...activeUpload ? [activeUpload] : []);
		loadButton.disabled = dryRunButton.disabled = Boolean(activeUpload);
		if (uploadFailure) {
			uploadErrorNotice.setText(uploadFailure);
			uploadErrorNotice.scrollIntoView({ block: 'nearest' });
			uploadFailure = undefined;
		}
	}

	addEventListener('upload', showUpload, { signal: page });

	if (state.blob) {
		text.value = state.text ?? '';
		pasted.open = state.text !== undefined;
		const found = await sampleOf(state.blob);
		// The user may have chosen another file meanwhile.
		if (lastChoice) {
			return;
		}
		sample = found;
		show();
		if (state.isFix) {
			text.focus();
		}
	}
}

/** A command as in redis-cli, with its key highlighted. */
function command(item) {
	const words = item.command.map((word) => (typeof word === 'object') ? JSON.stringify(word) : String(word));
	let note = null;
	if (item.op === 'HSET' && words[0] === 'EVALSHA') {
		// One script runs HSET and EXPIRE.
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
