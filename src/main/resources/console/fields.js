// The fields of the page Load: the format, the mapping and the settings.

import { settingField, wordsOf } from './labels.js';
import { quotedName } from './mapping.js';
import { field, h, inputOf, section } from './page.js';
import { FORMATS, detect, isData, isRows } from './sample.js';
import { storeSettings } from './tab.js';

const DEFAULT_ARGUMENTS = { ZADD: ['{score}', '{member}'], EXPIRE: ['3600'], HDEL: ['{field}'], HINCRBY: ['{field}', '{by}'], INCRBY: ['{by}'], XADD: ['*', 'row', '{*}'] };
const DELIMITERS = [[',', 'comma ,'], [';', 'semicolon ;'], ['\t', 'tab'], ['|', 'vertical bar |']];

/** Settings that have their own inputs, or that are for other calls. */
const NOT_IN_SETTINGS = new Set(['op', 'key', 'value', 'fields', 'args', 'id', 'ttl', 'expireAt', 'nulls', 'delimiter', 'header', 'dryRun', 'verify', 'results']);

/** An input for a member of the state. */
export function bound(view, name, input) {
	input.value = view.state[name] ?? '';
	input.addEventListener('input', () => {
		view.state[name] = input.value;
		view.state.touched = true;
		view.refresh();
	});
	input.addEventListener('focus', () => view.focused = input);
	return input;
}

/** A select for a member of the state. */
export function choice({ state }, name, options, changed) {
	const select = h('select', { onchange: () => {
		state[name] = select.value;
		state.touched = true;
		changed();
	} }, options.map(([value, label]) => h('option', { value, selected: value === (state[name] ?? '') }, label)));
	return select;
}

function checkbox(id, label, checked, onchange) {
	return h('div', { class: 'field check' }, h('label', { for: `field-${id}` }, h('input', { type: 'checkbox', id: `field-${id}`, checked, onchange }), ` ${label}`));
}

export function formatSection(view) {
	const { state, mapping } = view;
	// The format of a URL is chosen in its own form.
	const fields = state.kind ? [] : [field('type', 'Format', choice(view, 'type', Object.entries(FORMATS), () => {
		state.delimiter = (state.type === 'text/tab-separated-values') ? '\t' : detect(mapping.sample, '', mapping.operations).delimiter;
		mapping.guess();
		view.show();
	}))];
	if (state.type === 'text/csv') {
		fields.push(field('delimiter', 'Separator', choice(view, 'delimiter', DELIMITERS, () => view.changeRows())));
	}
	if (isRows(state.type)) {
		fields.push(checkbox('header', 'The first row is a header', state.header, (event) => {
			state.header = event.target.checked;
			state.touched = true;
			if (state.kind) {
				state.names = mapping.columns.map((name, i) => `column${i + 1}`).join(',');
			}
			view.changeRows();
		}));
		if (!state.header) {
			fields.push(field('names', 'Column names', bound(view, 'names', h('input')), 'separated by commas'));
		}
	}
	return section('format', 'Format', h('div', { class: 'fields' }, fields));
}

export function mappingSection(view) {
	const { mapping } = view;
	const usesTemplates = mapping.usesTemplates();
	const fields = [operationField(view), ...usesTemplates ? templateFields(view) : [], ...mapping.mayExpire() ? expiryFields(view, usesTemplates) : [],
		...usesTemplates ? recordFields(view) : [], ...templatesBox(view)];
	return section('mapping', 'Mapping', h('div', { class: 'fields' }, fields), usesTemplates && mapping.columns.length ? columnChips(view) : null);
}

function operationField(view) {
	const { state, mapping: { columns, operations } } = view;
	const isAny = state.kind !== 'query' && !(isRows(state.type) && !columns.includes('op'));
	return field('op', 'Operation', choice(view, 'op', [...isAny ? [['', 'set in each record']] : [], ...operations.map((name) => [name, name])], () => {
		if (state.op && isData(state.type)) {
			state.templates = true;
			state.key ||= columns.length ? `record:{${columns[0]}}` : '';
			state.value ||= '{*}';
			state.args ||= (DEFAULT_ARGUMENTS[state.op] ?? (/PUSH|SADD|SREM|PFADD|ZREM/.test(state.op) ? ['{*}'] : [])).join('\n');
		}
		view.show();
	}));
}

function text(placeholder) {
	return h('input', { spellcheck: 'false', placeholder });
}

function templateFields(view) {
	const key = field('key', 'Key', bound(view, 'key', h('input', { spellcheck: 'false', required: true })), 'a template such as session:{sid}');
	if (view.state.op === 'SET') {
		return [key, field('value', 'Value', bound(view, 'value', text()), '{*} is the whole row as JSON')];
	}
	if (view.state.op === 'HSET') {
		return [key, field('fields', 'Fields', bound(view, 'fields', text('all')), 'names separated by commas; all if empty')];
	}
	return [key, field('args', 'Arguments', bound(view, 'args', h('textarea', { rows: 2, spellcheck: 'false' })), 'one template a line, in the order of the command')];
}

function expiryFields(view, usesTemplates) {
	const orTemplate = (name) => usesTemplates ? `, or a template such as {${name}}` : '';
	return [field('ttl', 'Expires after', bound(view, 'ttl', text('never')), `90s, 1h, 7d${orTemplate('ttl')}`),
		field('expireAt', 'Expires at', bound(view, 'expireAt', text('never')), `instead of a duration: a time such as 2100-01-01T00:00:00Z${orTemplate('expires_at')}`)];
}

function recordFields(view) {
	const { op, type } = view.state;
	const mayTakeAll = op === 'HSET' && isRows(type);
	return [field('id', 'ID in the report', bound(view, 'id', text('line number')), 'a template that identifies the record'),
		field('nulls', 'Empty cells and nulls', choice(view, 'nulls', [['', mayTakeAll ? 'default' : 'refuse the record'], ['skip', 'leave them out'], ['empty', 'use empty strings']], () => view.refresh()),
				mayTakeAll ? 'by default: left out if all fields are taken, else the record is refused' : '')];
}

function templatesBox(view) {
	const { state, mapping } = view;
	if (!state.op || state.kind === 'query' || !isData(state.type) || (isRows(state.type) && !mapping.columns.includes('key'))) {
		return [];
	}
	return [checkbox('templates', 'Make records by templates', state.templates, (event) => {
		state.templates = event.target.checked;
		state.touched = true;
		view.show();
	})];
}

function columnChips(view) {
	const insert = (name) => {
		const input = view.body.contains(view.focused) ? view.focused : view.body.querySelector('#field-key');
		const word = (input.id === 'field-fields') ? (input.value && !input.value.endsWith(',') ? ',' : '') + quotedName(name) : `{${name}}`;
		input.setRangeText(word, input.selectionStart, input.selectionEnd, 'end');
		input.dispatchEvent(new Event('input'));
		input.focus();
	};
	return h('div', { class: 'chips', role: 'group', 'aria-label': 'Columns to insert' },
			h('span', { class: 'hint' }, isRows(view.state.type) || view.state.kind === 'query' ? 'Columns to insert:' : 'Members to insert:'),
			view.mapping.columns.map((name) => h('button', { type: 'button', class: 'chip', onclick: () => insert(name) }, name)));
}

export function settingsSection(view) {
	const { state, mapping } = view;
	const fields = view.rows.filter(({ name }) => !NOT_IN_SETTINGS.has(name) && !mapping.isForeign(name)).map((row) => {
		const input = inputOf(row, state.settings[row.name]);
		input.dataset.setting = row.name;
		input.addEventListener('input', () => {
			if (input.value) {
				state.settings[row.name] = input.value;
			} else {
				delete state.settings[row.name];
			}
			storeSettings(state.settings);
			view.refresh();
		});
		return settingField(row, { input });
	});
	return h('details', { class: 'settings', open: state.open || Object.keys(state.settings).length > 0, ontoggle: (event) => state.open = event.target.open },
			h('summary', {}, 'Settings'), h('div', { class: 'fields wide' }, fields));
}

/** Shows the settings from a tuning while the next load uses them. */
export function tunedNotice(view) {
	const { state } = view;
	const used = () => Object.entries(state.tunedSettings ?? {}).filter(([name, value]) => state.settings[name] === value);
	if (used().length === 0) return '';
	const remove = () => {
		used().forEach(([name]) => delete state.settings[name]);
		storeSettings(state.settings);
		delete state.tunedSettings;
		element.remove();
		if (state.blob || state.rows) {
			view.show();
		}
		(state.kind ? document.getElementById('read') : view.chooser.input).focus();
	};
	const element = h('p', { class: 'good used' }, h('span', {}, 'The next load uses the settings of the tuning: ', h('strong', {}, wordsOf(Object.fromEntries(used()))), '.'),
			h('button', { type: 'button', class: 'quiet', onclick: remove }, 'Remove them'));
	return element;
}
