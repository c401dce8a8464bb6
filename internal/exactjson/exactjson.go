// Package exactjson is JSON that keeps every string byte for byte. JSON itself has no form for bytes that are
// no UTF-8, which names of files and texts of databases may hold: [json.Marshal] replaces them.
package exactjson

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"
)

// mark precedes a string in base64. It begins with a noncharacter, which Unicode reserves for use inside a
// program.
const mark = "\uFDD1base64:"

// Marshal is [json.Marshal]; its output differs only for strings that are no UTF-8, which [Unmarshal] restores.
// What a type's own MarshalJSON writes is left as it is.
func Marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err == nil && !bytes.Contains(b, []byte(`\ufffd`)) && !bytes.Contains(b, []byte(mark)) { // json.Marshal lost nothing
		return b, nil
	}
	return json.Marshal(Form(v))
}

// Form is a copy of a value for a caller's own encoder.
func Form(v any) any {
	if v == nil {
		return nil
	}
	return mapped(reflect.ValueOf(v), encode).Interface()
}

// Unmarshal reads what Marshal wrote, and any other JSON, into the value that v points to.
func Unmarshal(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil || !bytes.Contains(b, []byte("base64:")) {
		return err
	}
	at := reflect.ValueOf(v).Elem()
	at.Set(mapped(at, decode))
	return nil
}

func encode(s string) string {
	if utf8.ValidString(s) && !strings.HasPrefix(s, mark) {
		return s
	}
	return mark + base64.StdEncoding.EncodeToString([]byte(s))
}

func decode(s string) string {
	if coded, ok := strings.CutPrefix(s, mark); ok {
		if b, err := base64.StdEncoding.DecodeString(coded); err == nil {
			return string(b)
		}
	}
	return s
}

// mapped is a copy of a value with f applied to every string in it.
func mapped(v reflect.Value, f func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		out.SetString(f(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(mapped(v.Elem(), f))
		}
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() <= reflect.Complex128 {
			break // numbers; bytes are base64 in JSON already
		}
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(mapped(v.Index(i), f))
		}
	case reflect.Map:
		if v.IsNil() {
			break
		}
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for key, value := range v.Seq2() {
			out.SetMapIndex(mapped(key, f), mapped(value, f))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(mapped(v.Field(i), f))
			}
		}
	}
	return out
}
