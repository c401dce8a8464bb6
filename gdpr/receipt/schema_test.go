package receipt_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"memdesk/gdpr/receipt"
)

// The published schema must name exactly the fields of a receipt.
func TestSchemaNamesEveryField(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "receipt-v1.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(b, &schema); err != nil {
		t.Fatal(err)
	}
	fields(t, "", reflect.TypeFor[receipt.Receipt](), schema)
}

func fields(t *testing.T, at string, typ reflect.Type, schema map[string]any) {
	t.Helper()
	props, _ := schema["properties"].(map[string]any)
	var names []string
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		names = append(names, name)
		sub, _ := props[name].(map[string]any)
		if sub == nil {
			t.Errorf("%s%s is not in the schema", at, name)
			continue
		}
		if either, ok := sub["anyOf"].([]any); ok {
			sub, _ = either[1].(map[string]any)
		}
		in := typ.Field(i).Type
		if in.Kind() == reflect.Slice {
			in = in.Elem()
			sub, _ = sub["items"].(map[string]any)
		}
		if in.Kind() == reflect.Pointer {
			in = in.Elem()
		}
		if in.Kind() == reflect.Struct {
			fields(t, at+name+".", in, sub)
		}
	}
	for name := range props {
		if !slices.Contains(names, name) {
			t.Errorf("%s%s is in the schema and not in a receipt", at, name)
		}
	}
}
