// The curl lines of the pages.

import { announce, h } from './page.js';
import { address, isKeyed } from './service.js';

function quoted(text) {
	return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * The curl line that does the same as an action of the page.
 * @param parameters are encoded by curl, because people change templates and URLs
 */
export function curl(path, { method = 'GET', parameters = [], headers = {}, file, output } = {}) {
	const url = address(path);
	const words = ['curl', '-sS'];
	if (/[{}[\]]/.test(url)) {
		words.push('-g');
	}
	if (method !== 'GET') {
		words.push('-X', method);
	}
	if (file) {
		words.push('-T', /^[\w.\/-]+$/.test(file) ? file : quoted(file));
	}
	for (const [name, value] of Object.entries(headers)) {
		words.push('-H', quoted(`${name}: ${value}`));
	}
	if (isKeyed()) {
		words.push('-H', '"Authorization: Bearer $KEY"');
	}
	if (output) {
		words.push('-o', output);
	}
	if (parameters.length) {
		words.push('-G', quoted(url));
		for (const [name, value] of parameters) {
			const text = `${name}=${value}`;
			words.push(...(/^[\w.=-]+$/.test(text) ? ['-d', text] : ['--data-urlencode', quoted(text)]));
		}
		return words.join(' ');
	}
	return [...words, quoted(url)].join(' ');
}

async function copy(text, code) {
	if (navigator.clipboard) {
		await navigator.clipboard.writeText(text);
		return;
	}
	// Browsers offer the clipboard only to HTTPS pages and localhost.
	getSelection().selectAllChildren(code);
	document.execCommand('copy');
}

/** A shell command with a button that copies it. */
export function shell(line) {
	const code = h('code', {}, line);
	const button = h('button', { type: 'button', class: 'quiet', 'aria-label': 'Copy the curl line', onclick: async () => {
		try {
			await copy(code.textContent, code);
			button.textContent = 'Copied';
			announce('Copied');
		} catch {
			getSelection().selectAllChildren(code);
			button.textContent = 'Selected';
		}
		setTimeout(() => button.textContent = 'Copy', 2000);
	} }, 'Copy');
	const element = h('div', { class: 'curl' }, code, button);
	return Object.assign(element, { setText: (text) => {
		if (code.textContent !== text) {
			code.textContent = text;
		}
	} });
}

/** The curl lines that do the same as a part of a page. Texts become their titles. */
export function curlLines(...lines) {
	return h('details', { class: 'lines' }, h('summary', {}, 'The same with curl'), lines.flat().map((line) => (typeof line === 'string') ? h('p', {}, line) : line));
}

/** The curl line that follows a job. */
export function followLine(id) {
	return shell(curl(`v1/jobs/${id}/events`, { headers: { Accept: 'text/plain' } }).replace('-sS', '-sSN'));
}
