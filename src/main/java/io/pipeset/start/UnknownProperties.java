package io.pipeset.start;

import java.beans.PropertyDescriptor;
import java.lang.reflect.Parameter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

import io.pipeset.record.encoding.NearestName;
import io.pipeset.request.ClientsProperties;

import org.springframework.beans.BeanUtils;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Fails the start if a property under {@code pipeset} is unknown. Spring Boot ignores
 * unknown properties, so a limit with a misspelt name would have no effect. Environment
 * variables are checked too, except those that have another purpose.
 */
final class UnknownProperties implements BeanFactoryPostProcessor {

	private static final ConfigurationPropertyName ROOT = ConfigurationPropertyName.of("pipeset");

	/**
	 * Variables for a Kubernetes Service or a Docker link with the name pipeset, those of
	 * the clients in the documentation, and those of the tests.
	 */
	private static final Pattern FOREIGN_VARIABLE = Pattern.compile(
			"PIPESET_(TEST_.*|URL|KEY|CALLBACK_SECRET|(.*_)?NAME|(.*_)?ENV_.*|(.*_)?SERVICE_(HOST|PORT(_.*)?)|(.*_)?PORT(_[0-9]+_(TCP|UDP|SCTP)(_.*)?)?)");

	private static final String CONTROL = ROOT + ".control";

	/** The properties with entries that have names of their own. */
	private static final List<ConfigurationPropertyName> NAMED = List.of(ROOT.append("clients"),
			ROOT.append("sources.queries"));

	/** The name of an entry among the known properties. */
	private static final String NAME = "name";

	private static final Set<String> CONTROL_GROUPS = Set.of("Cluster", "Sentinel", "Ssl");

	private final ConfigurableEnvironment environment;

	UnknownProperties(ConfigurableEnvironment environment) {
		this.environment = environment;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
		Map<String, Boolean> known = knownProperties(beans);
		List<String> unknown = new ArrayList<>();
		List<String> remedies = new ArrayList<>();
		for (PropertySource<?> source : this.environment.getPropertySources()) {
			if (source instanceof EnumerablePropertySource<?> enumerable) {
				for (String name : enumerable.getPropertyNames()) {
					// A container can have variables with dots in their names. Boot reads
					// these like other properties.
					boolean variable = source instanceof SystemEnvironmentPropertySource && name.indexOf('.') < 0;
					if (isForPipeset(name, variable) && known.entrySet()
						.stream()
						.noneMatch((property) -> isSpellingOf(property, name, variable))) {
						unknown.add(name + " (" + source.getName() + ")");
						remedies.add(remedy(name, variable, known.keySet()));
					}
				}
			}
		}
		if (!unknown.isEmpty()) {
			throw new UnknownPropertyException(unknown, remedies);
		}
	}

	/** The names of all properties, each with whether it can have several values. */
	private static Map<String, Boolean> knownProperties(ConfigurableListableBeanFactory beans) {
		Map<String, Boolean> known = new TreeMap<>();
		for (String bean : beans.getBeanDefinitionNames()) {
			Class<?> type = beans.getType(bean, false);
			ConfigurationProperties properties = (type != null)
					? AnnotatedElementUtils.findMergedAnnotation(type, ConfigurationProperties.class) : null;
			if (type != null && properties != null && properties.prefix().startsWith(ROOT + ".")) {
				addGroup(known, properties.prefix(), type);
			}
		}
		addControl(known, CONTROL, DataRedisProperties.class);
		addGroup(known, ROOT.toString(), ClientsProperties.class);
		return known;
	}

	/** Adds Boot's settings for a Redis, without those that have no meaning here. */
	private static void addControl(Map<String, Boolean> known, String prefix, Class<?> type) {
		for (PropertyDescriptor property : BeanUtils.getPropertyDescriptors(type)) {
			Class<?> value = property.getPropertyType();
			if (CONTROL_GROUPS.contains(value.getSimpleName())) {
				addControl(known, prefix + '.' + property.getName(), value);
			}
			else if (property.getWriteMethod() != null && value.getEnclosingClass() == null) {
				add(known, prefix, property.getName(), value);
			}
		}
	}

	/** Adds the settings of a record, and of the records in it. */
	private static void addGroup(Map<String, Boolean> known, String prefix, Class<?> type) {
		for (Parameter value : type.getDeclaredConstructors()[0].getParameters()) {
			Class<?> entry = ResolvableType.forType(value.getParameterizedType()).asMap().getGeneric(1).resolve();
			String name = prefix + '.' + DataObjectPropertyName.toDashedForm(value.getName());
			if (entry != null) {
				addGroup(known, name + '.' + NAME, entry);
			}
			else if (value.getType().isRecord()) {
				addGroup(known, name, value.getType());
			}
			else {
				add(known, prefix, value.getName(), value.getType());
			}
		}
	}

	private static void add(Map<String, Boolean> known, String prefix, String name, Class<?> type) {
		known.put(prefix + '.' + DataObjectPropertyName.toDashedForm(name), Iterable.class.isAssignableFrom(type));
	}

	private static boolean isForPipeset(String name, boolean variable) {
		if (variable) {
			String upper = name.toUpperCase(Locale.ROOT);
			return upper.startsWith("PIPESET_") && !FOREIGN_VARIABLE.matcher(upper).matches();
		}
		return ROOT.isAncestorOf(ConfigurationPropertyName.adapt(name, '.'));
	}

	private static boolean isSpellingOf(Map.Entry<String, Boolean> known, String name, boolean variable) {
		if (variable) {
			// Boot accepts names without dashes, and names with underscores instead.
			String upper = name.toUpperCase(Locale.ROOT);
			for (ConfigurationPropertyName named : NAMED) {
				String prefix = variableName(named.toString()) + '_';
				upper = upper.replaceFirst("^" + prefix + "[^_]+_", prefix + NAME.toUpperCase(Locale.ROOT) + '_');
			}
			String single = (known.getValue()) ? upper.replaceFirst("_[0-9]+$", "") : upper;
			return single.equals(variableName(known.getKey().replace("-", "")))
					|| single.equals(variableName(known.getKey().replace('-', '_')));
		}
		ConfigurationPropertyName property = ConfigurationPropertyName.of(known.getKey());
		ConfigurationPropertyName given = ConfigurationPropertyName.adapt(name, '.');
		ConfigurationPropertyName general = given;
		for (ConfigurationPropertyName named : NAMED) {
			int entry = named.getNumberOfElements() + 1;
			if (named.isAncestorOf(given) && given.getNumberOfElements() > entry) {
				general = named.append(NAME).append(given.subName(entry));
			}
		}
		return general.equals(property)
				|| (known.getValue() && property.isParentOf(general) && general.isLastElementIndexed());
	}

	private static String variableName(String property) {
		return property.replace('.', '_').toUpperCase(Locale.ROOT);
	}

	private static String remedy(String name, boolean variable, Set<String> known) {
		String given = name.toLowerCase(Locale.ROOT).replace('_', '.');
		String ending = given.substring(given.indexOf('.')).replace("-", "");
		// A name whose group is missing, or else the spelling.
		String nearest = known.stream()
			.filter((property) -> property.replace("-", "").endsWith(ending))
			.findFirst()
			.orElseGet(() -> NearestName.of(given, known));
		return "Remove " + name + ", or correct its name"
				+ ((nearest != null)
						? "; the nearest is " + ((variable) ? variableName(nearest.replace("-", "")) : nearest) : "")
				+ ".";
	}

}
