// What all pages use: elements, numbers in words, and polling.

import { Problem } from './service.js';

/** Creates an element. Properties that begin with "on" become listeners, the others attributes. */
export function h(tag, properties, ...children) {
	return fill(document.createElement(tag), properties, children);
}

/** Creates an element of a picture, as h does. */
export function svg(tag, properties, ...children) {
	return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), properties, children);
}

function fill(element, properties = {}, children) {
	for (const [name, value] of Object.entries(properties)) {
		if (name.startsWith('on')) {
			element.addEventListener(name.substring(2), value);
		} else if (name === 'value') {
			element.value = value;
		} else if (value === true) {
			element.setAttribute(name, '');
		} else if (value !== false && value !== null && value !== undefined) {
			element.setAttribute(name, value);
		}
	}
	element.append(...children.flat().filter((child) => child !== null && child !== undefined));
	return element;
}

const DELAY_AFTER_FAILURE_MILLIS = 3000;
const integers = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function number(value) {
	return integers.format(value);
}

/** A number with its noun: 1 record, 2 records. */
export function count(value, noun) {
	return `${number(value)} ${noun}${value === 1 ? '' : 's'}`;
}

export function duration(millis) {
	if (millis < 1) return `${Math.round(millis * 1000)} µs`;
	if (millis < 1000) return `${millis < 10 ? millis.toFixed(1) : Math.round(millis)} ms`;
	const seconds = millis / 1000;
	if (seconds < 60) return `${seconds.toFixed(1)} s`;
	const minutes = Math.floor(seconds / 60);
	const hours = Math.floor(minutes / 60);
	return minutes < 60 ? `${minutes} min ${Math.floor(seconds % 60)} s` : hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

export function bytes(value) {
	const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
	let unit = 0;
	while (value >= 1024 && unit < units.length - 1) {
		value /= 1024;
		unit++;
	}
	return `${unit === 0 || value >= 100 ? integers.format(value) : value.toFixed(1)} ${units[unit]}`;
}

/** A time, with the date if it is not today. */
export function timestamp(millis) {
	const then = new Date(millis);
	const today = then.toDateString() === new Date().toDateString();
	return then.toLocaleString('en-GB', today ? { timeStyle: 'medium' } : { dateStyle: 'medium', timeStyle: 'short' });
}

export function percent(share) {
	return `${(share * 100).toFixed(share < 0.9995 ? 1 : 0)} %`;
}

/** Has screen readers read a text. */
export function announce(text) {
	document.getElementById('announcement').textContent = text;
}

export function query(parameters) {
	const encoded = (text) => encodeURIComponent(text).replace(/%(7B|7D|2C|3A|2A|2F)/g, decodeURIComponent);
	return parameters.map(([name, value]) => `${name}=${encoded(value)}`).join('&');
}

/** A path with parameters, if there are any. */
export function pathOf(path, parameters) {
	return parameters.length ? `${path}?${query(parameters)}` : path;
}

/** A part of a page with its title. */
export function section(id, title, ...children) {
	return h('section', { 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), ...children);
}

/** Runs an action. If the service refuses it, shows why. */
export async function attempt(errors, page, action, onProblem = () => {}) {
	errors.setText();
	try {
		return await action();
	} catch (error) {
		if (page.aborted) return undefined;
		if (!(error instanceof Problem)) throw error;
		errors.setText(error.message);
		onProblem(error);
		return undefined;
	}
}

/** An input with its label, and a hint if there is one. */
export function field(name, label, input, hint) {
	input.id = `field-${name}`;
	const help = hint ? h('small', { id: `${input.id}-hint` }, hint) : null;
	if (help) {
		input.setAttribute('aria-describedby', help.id);
	}
	return h('div', { class: 'field' }, h('label', { for: input.id }, label), input, help);
}

/** The input of a setting, with its values or its bounds. It is empty while the setting has its default. */
export function inputOf({ values, min, max, defaultValue: placeholder }, value = '') {
	const input = values ? h('select', {}, h('option', { value: '' }, placeholder ?? 'service default'), values.filter((word) => word !== placeholder).map((word) => h('option', {}, word)))
		: h('input', { placeholder, ...(min === undefined) ? { type: 'text', spellcheck: 'false' } : { type: 'number', min, max, step: 1 } });
	input.value = (value === placeholder) ? '' : value;
	return input;
}

/**
 * Polls while the page is visible. Each poll returns the milliseconds until the next one. Its signal is aborted when
 * the next poll begins or the user leaves the page, because its answer would be outdated.
 * @param onProblem is called if the service refuses a poll
 * @returns a function that polls at once
 */
export function pollWhileVisible(page, poll, onProblem = () => {}) {
	let timer;
	let current = new AbortController();
	const pollNow = async () => {
		clearTimeout(timer);
		current.abort();
		current = new AbortController();
		const { signal } = current;
		let delay = DELAY_AFTER_FAILURE_MILLIS;
		try {
			delay = await poll(signal);
		} catch (error) {
			if (signal.aborted) return;
			if (!(error instanceof Problem)) throw error;
			onProblem(error);
		} finally {
			if (!signal.aborted && !page.aborted) {
				timer = setTimeout(() => document.hidden ? document.addEventListener('visibilitychange', pollNow, { once: true, signal: page }) : pollNow(), delay);
			}
		}
	};
	page.addEventListener('abort', () => {
		clearTimeout(timer);
		current.abort();
	});
	return pollNow;
}

/**
 * A bar that shows a part of a whole.
 * @param high the value from which the bar warns
 */
export function bar(value, max, label, high = max) {
	return h('meter', { min: 0, max, high, value, 'aria-label': label });
}

/** A number with its name in a list of tiles. */
export function tile(name, value, meaning, kind = '') {
	return h('div', { class: `tile ${kind}`, title: meaning }, h('dt', {}, name), h('dd', {}, value));
}

/** An error message, which screen readers read when it appears. It is hidden if it is empty. */
export function notice() {
	const element = h('p', { class: 'problem', role: 'alert', hidden: true });
	return Object.assign(element, { setText: (text = '') => {
		element.hidden = !text;
		// A screen reader would read the same text again.
		if (element.textContent !== text) {
			element.textContent = text;
		}
	} });
}
