// The page Load: a file, a URL or a query, its format, its mapping, a preview as commands, and the upload.

import { settingField, wordsOf } from './labels.js';
import { announce, bytes, count, curl, duration, field, h, inputOf, notice, percent, query, shell } from './page.js';
import { FORMATS, columnsOf, detect, firstRecords, isData, isRows, objectsOf, sampleOf } from './sample.js';
import { Problem, address, call, isKeyed, json, upload } from './service.js';
import { PREVIEW_LABEL, URL_FORMATS, fetchSources, nameOf, parametersOf, readFirst, typeOf } from './source.js';

const PREVIEW_RECORDS = 5;

/** What the page loads for users who have no file at hand. */
const SAMPLE = 'id,name,city\n17,Ada,London\n18,Grace,New York\n19,Linus,Helsinki\n';

/** The preview is refreshed when the user has not typed for this long. */
const PREVIEW_DELAY_MILLIS = 300;

const DEFAULT_ARGUMENTS = { ZADD: ['{score}', '{member}'], EXPIRE: ['3600'], HDEL: ['{field}'], HINCRBY: ['{field}', '{by}'], INCRBY: ['{by}'], XADD: ['*', 'row', '{*}'] };

/** Settings that have their own inputs, or that are for other calls. */
const NOT_IN_SETTINGS = new Set(['op', 'key', 'value', 'fields', 'args', 'id', 'ttl', 'expireAt', 'nulls', 'delimiter', 'header', 'dryRun', 'results']);

/** Settings of files that the rows of a query do not have. */
const NOT_FOR_QUERIES = new Set(['escape', 'null', 'trim', 'rows']);

/** Settings of the load that a preview does not have: rate limits, and what happens at the end of a job. */
const NOT_IN_PREVIEWS = new Set(['rateLimit', 'maxErrors', 'callback']);

/** The same for a source, whose preview is a job that may be cancelled before its end. */
const NOT_IN_SOURCE_PREVIEWS = new Set([...NOT_IN_PREVIEWS, 'replace', 'estimate', 'label']);

/** What each job of this tab processes: a file or the keys of a sweep, by job ID. */
export const sources = new Map();

/** Whether a job is only a preview. Dry runs that a user of this tab started are not. */
export function isPreview(status) {
	return status.dryRun && (status.label === PREVIEW_LABEL || status.counts.received <= PREVIEW_RECORDS) && !sources.has(status.jobId);
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
	let offered = { urls: [], queries: [] };
	let reading = new AbortController();
	page.addEventListener('abort', () => reading.abort());

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
	const trySample = h('p', { class: 'actions', hidden: Boolean(state.blob) }, h('button', { type: 'button', id: 'sample', onclick: async () => {
		text.value = SAMPLE;
		pasted.open = true;
		await chooseFile(new Blob([SAMPLE]), 'sample.csv', true);
		state.ttl = '1h';
		show();
		loadButton.focus();
	} }, 'Try a sample'), h('span', { class: 'hint' }, 'Three records in CSV. Their keys expire after an hour.'));
	const pasted = h('details', {}, h('summary', {}, 'or paste records'), h('label', { class: 'unseen', for: 'text' }, 'Records'), text);
	const chosen = h('p', { class: 'chosen', hidden: true });
	const body = h('div', { hidden: true });
	const kinds = h('fieldset', { class: 'kinds', hidden: true });
	const fileArea = h('div', {}, drop, pasted, trySample);
	const sourceForm = h('form', { hidden: true, onsubmit: (event) => {
		event.preventDefault();
		readSource();
	} });
	const readingWords = h('p', { class: 'actions', hidden: true }, h('span', {}, 'The service reads the first records.'),
			h('button', { type: 'button', onclick: () => {
				reading.abort();
				announce('Stopped');
			} }, 'Stop'));

	main.append(h('h1', {}, 'Load'), tunedNotice(), kinds, fileArea, sourceForm, readingWords, chosen, fileErrorNotice, body);

	/** Offers URLs and queries beside files, if the caller may use any. */
	async function offerSources() {
		try {
			offered = await fetchSources(page);
		}
		catch (error) {
			if (page.aborted || error instanceof Problem) {
				return;
			}
			throw error;
		}
		const found = [['', 'A file'], ...offered.urls.length ? [['url', 'A URL']] : [], ...offered.queries.length ? [['query', 'A query']] : []];
		if (found.length === 1) {
			return;
		}
		kinds.hidden = false;
		kinds.replaceChildren(h('legend', { class: 'unseen' }, 'Where the records are'), ...found.map(([value, label]) =>
			h('label', {}, h('input', { type: 'radio', name: 'kind', value, checked: value === (state.kind ?? ''), onchange: () => chooseKind(value) }), ` ${label}`)));
		showKind();
	}

	function chooseKind(kind) {
		clearTimeout(timer);
		lastChoice++;
		lastPreview++;
		reading.abort();
		for (const name of ['blob', 'text', 'name', 'gzip', 'isFix', 'rows', 'readOf', 'touched']) {
			delete state[name];
		}
		state.kind = kind || undefined;
		file.value = text.value = '';
		pasted.open = false;
		chosen.hidden = body.hidden = true;
		trySample.hidden = false;
		fileErrorNotice.setText();
		savedState = state;
		showKind();
	}

	function showKind() {
		fileArea.hidden = Boolean(state.kind);
		sourceForm.hidden = !state.kind;
		sourceForm.replaceChildren(...state.kind ? [h('div', { class: 'fields' }, state.kind === 'url' ? urlFields() : queryFields()),
			h('p', { class: 'actions' }, h('button', { id: 'read' }, 'Read the first records'), h('span', { class: 'hint' }, 'Nothing is written until you load it.'))] : []);
	}

	function urlFields() {
		const allowed = (offered.urls.length === 1) ? `begins with ${offered.urls[0]}` : `begins with one of ${offered.urls.join(', ')}`;
		return [field('url', 'URL', boundInput('url', h('input', { type: 'url', spellcheck: 'false', autocomplete: 'off', required: true })), allowed),
			field('format', 'Format', choice('format', [['', 'by its type or name'], ...Object.entries(URL_FORMATS).map(([name, type]) => [name, FORMATS[type]])], schedulePreview))];
	}

	function queryFields() {
		if (!offered.queries.some(({ name }) => name === state.source)) {
			state.source = offered.queries[0].name;
		}
		state.values ??= {};
		return [field('source', 'Query', choice('source', offered.queries.map(({ name }) => [name, name]), () => {
			lastChoice++;
			reading.abort();
			chosen.hidden = body.hidden = true;
			delete state.rows;
			showKind();
			document.getElementById('field-source').focus();
		})), ...queryParameters().map((name) => {
			const input = h('input', { spellcheck: 'false', oninput: () => {
				state.values[name] = input.value;
				schedulePreview();
			} });
			input.value = state.values[name] ?? '';
			return field(`param-${name}`, name, input);
		})];
	}

	function queryParameters() {
		return offered.queries.find(({ name }) => name === state.source)?.parameters ?? [];
	}

	/** Reads the first rows of a source as JSON, for the names of its columns, and then shows them as commands. */
	async function readSource() {
		const thisChoice = ++lastChoice;
		fileErrorNotice.setText();
		announce('The service reads the first records.');
		const readOf = JSON.stringify([state.kind, state.source, nameOf(state), state.format]);
		if (state.readOf !== readOf) {
			const type = (state.kind === 'query') ? 'application/x-ndjson' : typeOf(state);
			Object.assign(state, { type, delimiter: ',', header: true, names: '', touched: false, readOf: undefined });
			chosen.hidden = body.hidden = true;
		}
		let rows = [];
		if (!state.type || isData(state.type)) {
			const report = await attemptRead([...sourceParameters(), ...rowParameters(), ['op', 'SET'], ['key', 'row:{@index}'], ['value', '{*}']], fileErrorNotice);
			if (!report || thisChoice !== lastChoice) {
				return;
			}
			if (!fileErrorNotice.hidden) {
				if (isRows(state.type)) {
					// The separator or the header may be the reason.
					state.readOf = readOf;
					columns = [];
					body.hidden = false;
					body.replaceChildren(formatSection());
				}
				return;
			}
			// A row that the service refuses as a SET may be right as another command.
			rows = report.items.slice(0, PREVIEW_RECORDS).filter((item) => item.command).map((item) => item.command[2]);
			// The cells of CSV and TSV are strings.
			state.type ??= rows.every((row) => Object.values(JSON.parse(row)).every((value) => typeof value === 'string')) ? 'text/csv' : 'application/x-ndjson';
		}
		Object.assign(state, { rows, name: nameOf(state) });
		sample = sampleOfRows(rows);
		const mappingOf = readOf + (state.header ? '' : state.names);
		if (!(state.touched && state.mappingOf === mappingOf)) {
			guessMapping();
			state.touched = false;
		}
		Object.assign(state, { readOf, mappingOf });
		savedState = state;
		show();
		refreshPreview();
	}

	function sampleOfRows(rows) {
		return { bytes: new TextEncoder().encode(rows.join('\n')), whole: true };
	}

	/**
	 * Reads the first records of the source.
	 * @returns the report, or undefined if there is none
	 */
	async function attemptRead(parameters, errors) {
		reading.abort();
		const thisReading = reading = new AbortController();
		readingWords.hidden = false;
		try {
			const report = await readFirst(parameters, PREVIEW_RECORDS, thisReading.signal);
			errors.setText((report.state === 'failed' || report.state === 'stopped') ? report.ending?.detail : '');
			return report;
		}
		catch (error) {
			if (thisReading.signal.aborted) {
				return undefined;
			}
			if (!(error instanceof Problem)) {
				throw error;
			}
			errors.setText(error.message);
			return error.job;
		}
		finally {
			if (thisReading === reading) {
				readingWords.hidden = true;
			}
		}
	}

	/** Shows the settings from a tuning while the next load uses them. */
	function tunedNotice() {
		const names = Object.keys(state.tunedSettings ?? {}).filter((name) => state.settings[name] === state.tunedSettings[name]);
		if (!names.length) {
			return '';
		}
		const element = h('p', { class: 'good used' }, h('span', {}, 'The next load uses the settings of the tuning: ', h('strong', {}, wordsOf(Object.fromEntries(names.map((name) => [name, state.tunedSettings[name]])))), '.'),
				h('button', { type: 'button', class: 'quiet', onclick: () => {
					names.filter((name) => state.settings[name] === state.tunedSettings[name]).forEach((name) => delete state.settings[name]);
					storeSettings(state.settings);
					delete state.tunedSettings;
					element.remove();
					if (state.blob || state.rows) {
						show();
					}
					(state.kind ? document.getElementById('read') : file).focus();
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

	/** The columns of the file, or of the rows that the service has read as JSON. */
	function findColumns() {
		if (state.kind && isRows(state.type) && !state.header && state.names) {
			return state.names.split(',');
		}
		return columnsOf(sample, state.kind ? { type: 'application/x-ndjson' } : state);
	}

	function guessMapping() {
		columns = findColumns();
		const has = (...names) => names.every((name) => columns.includes(name));
		const first = objectsOf(new TextDecoder().decode(sample.bytes), state.kind ? 'application/x-ndjson' : state.type)[0];
		state.names = columns.join(',');
		Object.assign(state, { key: '', value: '', fields: '', args: '', ttl: '', expireAt: '', id: '', nulls: '' });
		if (state.kind === 'query' && columns.length === 0) {
			Object.assign(state, { op: 'HSET', templates: true });
			return;
		}
		// A record that the user is typing has no columns yet. The rows of a query are no records.
		if (state.kind !== 'query' && (columns.length === 0 || !isData(state.type) || Array.isArray(first) || has('op') || (first && has('key') && (has('value') || has('args') || Object.hasOwn(first, 'fields'))))) {
			state.op = (first && !Array.isArray(first) && !has('op') && isData(state.type)) ? (has('value') ? 'SET' : 'HSET') : '';
			state.templates = false;
			return;
		}
		const id = columns.find((name) => /^(key|id|sid|sku|uuid)$/i.test(name)) ?? columns.find((name) => /(_|^|[a-z])id$/i.test(name)) ?? columns[0];
		const stem = (state.name ?? '').split('.')[0].toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/s$/, '');
		const isKey = id.toLowerCase() === 'key';
		const expiry = columns.find((name) => /^expires?_?at$/i.test(name));
		const values = columns.filter((name) => name !== id && name !== expiry && name.toLowerCase() !== 'ttl');
		state.templates = true;
		state.op = (values.length === 1) ? 'SET' : 'HSET';
		state.key = (isKey || !/^[a-z]/.test(stem) || stem.startsWith('pasted')) ? (isKey ? `{${id}}` : `record:{${id}}`) : `${stem}:{${id}}`;
		state.value = (values.length === 1) ? `{${values[0]}}` : '{*}';
		state.fields = (isKey || has('ttl') || expiry) ? values.map(quotedName).join(',') : '';
		state.ttl = has('ttl') ? '{ttl}' : '';
		state.expireAt = expiry && !state.ttl ? `{${expiry}}` : '';
	}

	function quotedName(name) {
		return /[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
	}

	function sourceParameters() {
		return state.kind ? parametersOf(state, queryParameters()) : [];
	}

	/** How the rows of a file are read. */
	function rowParameters() {
		return [...(state.type === 'text/csv' && state.delimiter !== ',') ? [['delimiter', state.delimiter === '\t' ? 'tab' : state.delimiter]] : [],
			...(isRows(state.type) && !state.header && state.names) ? [['header', state.names]] : []];
	}

	/** The parameters of the load, without those for a dry run. */
	function parameters() {
		const found = sourceParameters();
		const add = (name, value) => value && found.push([name, value]);
		add('op', state.op);
		found.push(...rowParameters());
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
			if ((name !== 'ttlJitter' || expires) && !isForeign(name)) {
				add(name, value);
			}
		}
		return found;
	}

	/** Whether a setting has no meaning for the records, so that the service would refuse it. */
	function isForeign(name) {
		return state.kind === 'query' && NOT_FOR_QUERIES.has(name);
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
		columns = findColumns();
		chosen.hidden = false;
		trySample.hidden = true;
		chosen.replaceChildren(...state.kind ? [h('strong', {}, state.name), ' ', h('span', { class: 'hint' }, sourceWords())] : [h('strong', {}, state.name), ` ${bytes(state.blob.size)}${state.gzip ? ', gzip' : ''} `,
				h('span', { class: 'hint' }, state.isFix ? 'Fix the rows above, then load them.' : `detected: ${FORMATS[state.type]}${delimiterWords()}`)]);
		body.hidden = false;
		body.replaceChildren(
				...(state.kind && !isRows(state.type)) ? [] : [formatSection()],
				h('section', { 'aria-labelledby': 'mapping-title' }, h('h2', { id: 'mapping-title' }, 'Mapping'), mapping()),
				preview, options(), act);
		announce(`${state.name}: ${state.kind ? sourceWords() : FORMATS[state.type]}`);
		showUpload();
		schedulePreview(0);
	}

	function sourceWords() {
		const words = (state.kind === 'query') ? 'a query' : FORMATS[state.type];
		return `${words}${isData(state.type) ? `, ${count(columns.length, 'column')} in the first records` : ''}`;
	}

	function delimiterWords() {
		const words = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' };
		if (!isRows(state.type)) {
			return '';
		}
		return ` with ${words[state.delimiter] ?? state.delimiter}, ${state.header ? 'a header row' : 'no header row'}, ${count(columns.length, 'column')}`;
	}

	function formatSection() {
		return h('section', { 'aria-labelledby': 'format-title' }, h('h2', { id: 'format-title' }, 'Format'), format());
	}

	function format() {
		// The format of a URL is chosen beside it.
		const fields = state.kind ? [] : [field('type', 'Format', choice('type', Object.entries(FORMATS), () => {
			state.delimiter = (state.type === 'text/tab-separated-values') ? '\t' : detect(sample, '', operations).delimiter;
			guessMapping();
			show();
		}))];
		if (state.type === 'text/csv') {
			fields.push(field('delimiter', 'Separator', choice('delimiter', [[',', 'comma ,'], [';', 'semicolon ;'], ['\t', 'tab'], ['|', 'vertical bar |']], changeRows)));
		}
		if (isRows(state.type)) {
			const box = h('input', { type: 'checkbox', id: 'field-header', checked: state.header, onchange: () => {
				state.header = box.checked;
				state.touched = true;
				if (state.kind) {
					state.names = columns.map((name, i) => `column${i + 1}`).join(',');
				}
				changeRows();
			} });
			fields.push(h('div', { class: 'field check' }, h('label', { for: 'field-header' }, box, ' The first row is a header')));
			if (!state.header) {
				fields.push(field('names', 'Column names', boundInput('names', h('input')), 'separated by commas'));
			}
		}
		return h('div', { class: 'fields' }, fields);
	}

	/** Takes another separator or header. The rows of a source have to be read again. */
	function changeRows() {
		if (state.kind) {
			state.touched = false;
			readSource();
			return;
		}
		guessMapping();
		show();
	}

	function mapping() {
		const anyOperation = state.kind === 'query' || isRows(state.type) && !columns.includes('op') ? [] : [['', 'set in each record']];
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
			fields.push(field('nulls', 'Empty cells and nulls', choice('nulls', [['', (state.op === 'HSET' && isRows(state.type)) ? 'refuse the record, but leave out fields when all are taken' : 'refuse the record'], ['skip', 'leave them out'], ['empty', 'use empty strings']], schedulePreview)));
		}
		if (state.op && state.kind !== 'query' && isData(state.type) && (!isRows(state.type) || columns.includes('key'))) {
			const box = h('input', { type: 'checkbox', id: 'field-templates', checked: state.templates, onchange: () => {
				state.templates = box.checked;
				state.touched = true;
				show();
			} });
			fields.push(h('div', { class: 'field check' }, h('label', { for: 'field-templates' }, box, ' Make records by templates')));
		}
		const chips = usesTemplates() && columns.length ? h('div', { class: 'chips', role: 'group', 'aria-label': 'Columns to insert' },
				h('span', { class: 'hint' }, isRows(state.type) || state.kind === 'query' ? 'Columns to insert:' : 'Members to insert:'), columns.map((name) => h('button', { type: 'button', class: 'chip', onclick: () => insertColumn(name) }, name))) : null;
		return [h('div', { class: 'fields' }, fields), chips];
	}

	function insertColumn(name) {
		const input = (body.contains(focusedInput)) ? focusedInput : body.querySelector('#field-key');
		const isList = input.id === 'field-fields';
		const word = isList ? (input.value && !input.value.endsWith(',') ? ',' : '') + quotedName(name) : `{${name}}`;
		input.setRangeText(word, input.selectionStart, input.selectionEnd, 'end');
		input.dispatchEvent(new Event('input'));
		input.focus();
	}

	const commands = h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The first records as commands' });
	const errorNotice = notice();
	const outdated = h('p', { class: 'actions', hidden: true }, h('button', { type: 'button', id: 'again', onclick: () => refreshPreview() }, 'Show them again'),
			h('span', { class: 'hint' }, 'They may have changed. The service reads the source only when you ask for it.'));
	const preview = h('section', { 'aria-labelledby': 'preview-title' }, h('h2', { id: 'preview-title' }, 'The first records'), outdated, errorNotice, commands);

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
		const fields = rows.filter((row) => !NOT_IN_SETTINGS.has(row.name) && !isForeign(row.name)).map((row) => {
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
			return settingField(row, { input });
		});
		return h('details', { class: 'settings', open: state.open || Object.keys(state.settings).length > 0, ontoggle: (event) => state.open = event.target.open }, h('summary', {}, 'Settings'), h('div', { class: 'fields wide' }, fields));
	}

	let timer;

	function schedulePreview(millis = PREVIEW_DELAY_MILLIS) {
		clearTimeout(timer);
		if (state.kind) {
			const common = { method: 'POST', url: address('v1/jobs'), headers: { Prefer: 'respond-async' }, keyed: isKeyed() };
			line.setText(curl({ ...common, parameters: parameters() }));
			dryRunLine.setText(curl({ ...common, parameters: [...parameters(), ['dryRun', 'true']] }));
			// Each reading of a source costs a query of its database, or a request to its server.
			outdated.hidden = false;
			return;
		}
		outdated.hidden = true;
		const url = address(`v1/jobs?${query(parameters())}`).replace(/\?$/, '');
		const common = { method: 'POST', headers: { ...headers(), Prefer: 'respond-async' }, file: state.text === undefined ? state.name : 'records', keyed: isKeyed() };
		line.setText(curl({ ...common, url }));
		dryRunLine.setText(curl({ ...common, url: url + (url.includes('?') ? '&' : '?') + 'dryRun=true' }));
		timer = setTimeout(refreshPreview, typeof millis === 'number' ? millis : PREVIEW_DELAY_MILLIS);
	}

	/** Has the service convert the first records to commands. */
	async function refreshPreview() {
		const thisPreview = ++lastPreview;
		if (state.kind) {
			outdated.hidden = true;
			const report = await attemptRead(parameters().filter(([name]) => !NOT_IN_SOURCE_PREVIEWS.has(name)), errorNotice);
			if (thisPreview === lastPreview) {
				outdated.hidden &&= Boolean(report);
				showPreview(report);
			}
			return;
		}
		let report;
		try {
			const previewParameters = parameters().filter(([name]) => !NOT_IN_PREVIEWS.has(name));
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
		if (thisPreview === lastPreview) {
			showPreview(report);
		}
	}

	function showPreview(report) {
		const items = (report?.items ?? []).slice(0, PREVIEW_RECORDS);
		if (report?.settings) {
			for (const input of body.querySelectorAll('[data-setting]')) {
				const now = report.settings[input.dataset.setting];
				if (now !== undefined && input.dataset.setting !== 'label' && !state.settings[input.dataset.setting]) {
					input.placeholder = String(now);
				}
			}
		}
		commands.replaceChildren(...items.length ? [previewTable(items)] : []);
		commands.hidden = !items.length;
	}

	function previewTable(items) {
		return h('table', { class: 'commands' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, items[0].line ? 'Line' : '#'), h('th', { scope: 'col' }, 'Command'))),
				h('tbody', {}, items.map((item) => h('tr', { class: item.error ? 'wrong' : '' }, h('td', { class: 'number' }, String(item.line ?? item.index)),
						h('td', {}, item.error ? [h('strong', {}, item.error.code), ` ${item.error.message}`] : command(item))))));
	}

	async function send(isDry) {
		const invalid = main.querySelector(':is(input, select, textarea):invalid');
		if (invalid) {
			invalid.closest('details')?.setAttribute('open', '');
			invalid.reportValidity();
			return;
		}
		const all = parameters();
		const { blob } = state;
		const name = state.kind ? nameOf(state) : state.name;
		if (!state.settings.label && /^[^\p{C}]{1,120}$/u.test(name)) {
			all.push(['label', name]);
		}
		if (isDry) {
			all.push(['dryRun', 'true']);
		}
		const stop = new AbortController();
		const bar = h('progress', { max: 1, value: 0, 'aria-label': 'Upload' });
		const words = h('span', {});
		const began = performance.now();
		const source = { ...state, name };
		fileErrorNotice.setText();
		uploadErrorNotice.setText();
		reading.abort();
		activeUpload = h('div', { class: 'sending' }, h('strong', {}, name), ...state.kind ? [h('span', {}, 'The service begins the job.')]
			: [bar, words, h('button', { type: 'button', onclick: () => stop.abort() }, 'Stop the upload')]);
		showUpload();
		try {
			const job = state.kind ? await json('POST', `v1/jobs?${query(all)}`, { headers: { Prefer: 'respond-async' } }) : await upload(`v1/jobs?${query(all)}`, { ...headers(), Prefer: 'respond-async' }, blob, (done, total) => {
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

	if (state.kind) {
		await offerSources();
		if (state.rows && !lastChoice && !page.aborted) {
			sample = sampleOfRows(state.rows);
			show();
		}
		return;
	}
	offerSources();
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
