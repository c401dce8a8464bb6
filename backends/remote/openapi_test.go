package remote

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"
)

// object is a JSON object under construction.
type object = map[string]any

// OpenAPI describes the calls, made from the handler's own table and types.
func OpenAPI() ([]byte, error) {
	s := schemas{}
	paths := object{}
	for _, r := range routes {
		paths[r.Path] = object{strings.ToLower(r.Method): s.operation(r)}
	}
	doc := object{
		"openapi": "3.1.0",
		"info": object{"title": "memdesk provider", "version": "1",
			"description": "The Provider contract over HTTP. Four calls make a provider: retain, recall, forget, health. The others are optional reads. " +
				"An id travels percent-encoded where it holds controls, % or bytes that are no UTF-8. Fields may be added; a client passes over what it does not know."},
		"security":   []object{{"token": []string{}}},
		"paths":      paths,
		"components": object{"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}, "schemas": s},
	}
	out, err := json.MarshalIndent(doc, "", "  ")
	return append(out, '\n'), err
}

type schemas map[string]object

func (s schemas) operation(r route) object {
	media := "application/json"
	if r.stream != nil {
		media = "application/x-ndjson"
	}
	op := object{
		"summary": r.What, "operationId": strings.TrimPrefix(r.Path, "/v1/"),
		"responses": object{
			"200":     object{"description": "done", "content": object{media: object{"schema": s.of(reflect.TypeOf(r.response))}}},
			"default": object{"description": "not done; the code says why", "content": object{"application/json": object{"schema": s.of(reflect.TypeFor[failed]())}}},
		},
	}
	if r.Facet != "" {
		op["description"] = "Optional: answered where GET /v1/store names the facet " + r.Facet + "; else code UNSUPPORTED."
	}
	if r.request != nil {
		op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": s.of(reflect.TypeOf(r.request))}}}
	}
	return op
}

// of is the schema of a type; structs are kept by name.
func (s schemas) of(t reflect.Type) object {
	switch {
	case t.Kind() == reflect.Pointer:
		return s.of(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	}
	if _, ok := s[t.Name()]; !ok {
		s[t.Name()] = object{} // breaks a cycle
		s[t.Name()] = s.object(t)
	}
	return object{"$ref": "#/components/schemas/" + t.Name()}
}

func (s schemas) object(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		properties[name] = s.of(f.Type)
		if !strings.Contains(rest, "omitempty") {
			if f.Type.Kind() == reflect.Pointer {
				panic(t.Name() + "." + name + " is required, and an answer may hold null instead")
			}
			required = append(required, name)
		}
	}
	slices.Sort(required)
	return object{"type": "object", "properties": properties, "required": required}
}
