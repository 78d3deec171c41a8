// What every page is made of: elements, numbers as people say them, and curl lines.

/** Makes an element: properties that begin with "on" listen, the others are set as attributes. */
export function h(tag, properties = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(properties)) {
		if (name.startsWith('on')) {
			element.addEventListener(name.substring(2), value);
		}
		else if (name === 'value') {
			element.value = value;
		}
		else if (value === true) {
			element.setAttribute(name, '');
		}
		else if (value !== false && value !== null && value !== undefined) {
			element.setAttribute(name, value);
		}
	}
	element.append(...children.flat().filter((child) => child !== null && child !== undefined));
	return element;
}

const AFTER_FAILURE_MILLIS = 5000;

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

export function number(value) {
	return whole.format(value);
}

/** 1 record, 2 records. */
export function count(value, noun) {
	return `${number(value)} ${noun}${value === 1 ? '' : 's'}`;
}

export function duration(millis) {
	if (millis < 1) {
		return `${Math.round(millis * 1000)} µs`;
	}
	if (millis < 1000) {
		return `${millis < 10 ? millis.toFixed(1) : Math.round(millis)} ms`;
	}
	const seconds = millis / 1000;
	if (seconds < 60) {
		return `${seconds.toFixed(1)} s`;
	}
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
	return `${unit === 0 || value >= 100 ? whole.format(value) : value.toFixed(1)} ${units[unit]}`;
}

/** A moment, as one says it: the time of today, or else the day as well. */
export function moment(millis) {
	const then = new Date(millis);
	const today = then.toDateString() === new Date().toDateString();
	return then.toLocaleString('en-GB', today ? { timeStyle: 'medium' } : { dateStyle: 'medium', timeStyle: 'short' });
}

export function percent(share) {
	return `${(share * 100).toFixed(share < 0.9995 ? 1 : 0)} %`;
}

/** Says something to screen readers. */
export function tell(text) {
	document.getElementById('told').textContent = text;
}

function quoted(text) {
	return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The query string of names and values. */
export function query(parameters) {
	const encoded = (text) => encodeURIComponent(text).replace(/%(7B|7D|2C|3A|2A|2F)/g, decodeURIComponent);
	return parameters.map(([name, value]) => `${name}=${encoded(value)}`).join('&');
}

/** The line that does the same as an action of the page. */
export function curl({ method, url, headers = {}, file, output, keyed }) {
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
	if (keyed) {
		words.push('-H', '"Authorization: Bearer $KEY"');
	}
	if (output) {
		words.push('-o', output);
	}
	return [...words, quoted(url)].join(' ');
}

async function copy(text, code) {
	if (navigator.clipboard) {
		await navigator.clipboard.writeText(text);
		return;
	}
	// Only pages by https and of this machine have a clipboard.
	getSelection().selectAllChildren(code);
	document.execCommand('copy');
}

/** A line of the shell, ready to copy. */
export function shell(line) {
	const code = h('code', {}, line);
	const button = h('button', { type: 'button', class: 'quiet', 'aria-label': 'Copy the curl line', onclick: async () => {
		try {
			await copy(code.textContent, code);
			button.textContent = 'Copied';
			tell('Copied');
		}
		catch {
			getSelection().selectAllChildren(code);
			button.textContent = 'Selected';
		}
		setTimeout(() => button.textContent = 'Copy', 2000);
	} }, 'Copy');
	const element = h('div', { class: 'curl' }, code, button);
	return Object.assign(element, { say: (text) => {
		if (code.textContent !== text) {
			code.textContent = text;
		}
	} });
}

/** An input below its name, with a hint for those who do not know it. */
export function field(name, label, input, hint) {
	input.id = `field-${name}`;
	const help = hint ? h('small', { id: `${input.id}-hint` }, hint) : null;
	if (help) {
		input.setAttribute('aria-describedby', help.id);
	}
	return h('div', { class: 'field' }, h('label', { for: input.id }, label), input, help);
}

/** The input of a row of the table of settings, with its values or its bounds. */
export function inputOf(row, value = '') {
	const input = (row.values) ? h('select', {}, h('option', { value: '' }, 'as the service has it'), row.values.map((word) => h('option', {}, word)))
		: h('input', (row.min !== undefined) ? { type: 'number', min: row.min, max: row.max, step: 1 } : { type: 'text', spellcheck: 'false' });
	input.value = value;
	return input;
}

/**
 * Looks again and again, as long as somebody sees the page; each look says after how many milliseconds
 * the next one is due. The signal of a look ends it when the next one begins, or the page is left: its answer
 * would come too late.
 * @returns looks at once
 */
export function again(page, look) {
	let timer;
	let begun = new AbortController();
	const now = async () => {
		clearTimeout(timer);
		begun.abort();
		begun = new AbortController();
		const { signal } = begun;
		let pause = AFTER_FAILURE_MILLIS;
		try {
			pause = await look(signal);
		}
		finally {
			if (!signal.aborted && !page.aborted) {
				timer = setTimeout(() => document.hidden ? document.addEventListener('visibilitychange', now, { once: true, signal: page }) : now(), pause);
			}
		}
	};
	page.addEventListener('abort', () => {
		clearTimeout(timer);
		begun.abort();
	});
	return now;
}

/**
 * A bar for the part of a whole.
 * @param high where it is nearly too much, if it is about a bound
 */
export function bar(value, most, label, high = most) {
	return h('meter', { min: 0, max: most, high, value, 'aria-label': label });
}

/** A mistake or its absence, which screen readers hear of. */
export function notice() {
	const element = h('p', { class: 'problem', role: 'alert', hidden: true });
	return Object.assign(element, { say: (text = '') => {
		element.hidden = !text;
		// Nobody wants to hear the same again.
		if (element.textContent !== text) {
			element.textContent = text;
		}
	} });
}
