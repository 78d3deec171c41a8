package io.pipeset.web.document;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.annotation.JsonValue;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Creates the JSON Schema of answers from the components of their Java records and from
 * Jackson's annotations.
 */
final class Schemas {

	private static final String PREFIX = "#/components/schemas/";

	private final JsonMapper mapper;

	/** An answer with an unwrapped {@link Object} has the members of one of these. */
	private final List<Class<?>> reports;

	private final Map<String, Object> named = new TreeMap<>();

	Schemas(JsonMapper mapper, List<Class<?>> reports) {
		this.mapper = mapper;
		this.reports = reports;
	}

	/** The schemas that have been referred to so far, by their names. */
	Map<String, Object> named() {
		return this.named;
	}

	static Map<String, Object> reference(String name) {
		return Map.of("$ref", PREFIX + name);
	}

	Map<String, Object> of(Class<?> type) {
		if (type == String.class) {
			return Map.of("type", "string");
		}
		if (type == boolean.class || type == Boolean.class) {
			return Map.of("type", "boolean");
		}
		if (type == int.class || type == Integer.class) {
			return Map.of("type", "integer", "format", "int32");
		}
		if (type == long.class || type == Long.class) {
			return Map.of("type", "integer", "format", "int64");
		}
		if (type == double.class || type == Double.class) {
			return Map.of("type", "number", "format", "double");
		}
		if (type.isEnum()) {
			return Map.of("type", "string", "enum",
					Stream.of(type.getEnumConstants()).map(this.mapper::<JsonNode>valueToTree).toList());
		}
		if (Map.class.isAssignableFrom(type)) {
			return Map.of("type", "object");
		}
		if (type.isSealed()) {
			return Stream.of(type.getPermittedSubclasses()[0].getMethods())
				.filter((method) -> method.isAnnotationPresent(JsonValue.class))
				.findAny()
				.map((method) -> of(method.getReturnType()))
				.orElse(Map.of());
		}
		if (type.isRecord() && Stream.of(type.getRecordComponents()).noneMatch(Schemas::isJsonValue)) {
			return object(type);
		}
		// Any value: a reply of Redis, or a record that Jackson writes as a single value.
		return Map.of();
	}

	private Map<String, Object> object(Class<?> type) {
		String name = (type.getEnclosingClass() != null && type.getEnclosingClass().isRecord())
				? type.getEnclosingClass().getSimpleName() + type.getSimpleName() : type.getSimpleName();
		if (!this.named.containsKey(name)) {
			this.named.put(name, Map.of());
			Map<String, Object> properties = new LinkedHashMap<>();
			List<String> required = new ArrayList<>();
			List<Object> parts = new ArrayList<>();
			addProperties(type, properties, required, parts);
			Map<String, Object> schema = new LinkedHashMap<>();
			schema.put("type", "object");
			if (!parts.isEmpty()) {
				schema.put("anyOf", parts);
			}
			schema.put("properties", properties);
			if (!required.isEmpty()) {
				schema.put("required", required);
			}
			this.named.put(name, schema);
		}
		return reference(name);
	}

	private void addProperties(Class<?> type, Map<String, Object> properties, List<String> required,
			List<Object> parts) {
		JsonInclude.Include ofType = include(type, JsonInclude.Include.ALWAYS);
		for (RecordComponent component : type.getRecordComponents()) {
			Method accessor = component.getAccessor();
			if (accessor.isAnnotationPresent(JsonIgnore.class)) {
				continue;
			}
			if (accessor.isAnnotationPresent(JsonUnwrapped.class)) {
				if (component.getType() == Object.class) {
					this.reports.forEach((report) -> parts.add(of(report)));
				}
				else {
					addProperties(component.getType(), properties, required, parts);
				}
				continue;
			}
			boolean nullable = component.getAnnotatedType().isAnnotationPresent(Nullable.class);
			JsonInclude.Include include = include(accessor, ofType);
			boolean alwaysWritten = include == JsonInclude.Include.ALWAYS;
			properties.put(component.getName(), (nullable && alwaysWritten) ? orNull(of(component.getAnnotatedType()))
					: of(component.getAnnotatedType()));
			if (alwaysWritten || (include == JsonInclude.Include.NON_NULL && !nullable)
					|| (include == JsonInclude.Include.NON_EMPTY && component.getType().isRecord() && !nullable)) {
				required.add(component.getName());
			}
		}
		for (Method method : type.getDeclaredMethods()) {
			if (method.isAnnotationPresent(JsonProperty.class)
					&& Stream.of(type.getRecordComponents()).noneMatch((part) -> part.getAccessor().equals(method))) {
				properties.put(method.getName(), of(method.getReturnType()));
				required.add(method.getName());
			}
		}
	}

	private Map<String, Object> of(AnnotatedType annotated) {
		Type type = annotated.getType();
		if (annotated instanceof AnnotatedParameterizedType generic
				&& type instanceof ParameterizedType parameterized) {
			AnnotatedType[] arguments = generic.getAnnotatedActualTypeArguments();
			Map<String, Object> element = of(arguments[arguments.length - 1]);
			return (parameterized.getRawType() == List.class) ? Map.of("type", "array", "items", element)
					: Map.of("type", "object", "additionalProperties", element);
		}
		return of((Class<?>) type);
	}

	private static Map<String, Object> orNull(Map<String, Object> schema) {
		return Map.of("anyOf", List.of(schema, Map.of("type", "null")));
	}

	private static JsonInclude.Include include(AnnotatedElement element, JsonInclude.Include otherwise) {
		JsonInclude include = element.getAnnotation(JsonInclude.class);
		return (include != null) ? include.value() : otherwise;
	}

	private static boolean isJsonValue(RecordComponent component) {
		return component.getAccessor().isAnnotationPresent(JsonValue.class);
	}

}
