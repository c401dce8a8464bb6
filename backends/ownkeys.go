package backends

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"memdesk/model"
)

// Path is a path of a kind's own configuration: ~ is the home directory, and a
// relative one starts at the configuration's directory.
type Path string

// ownTypes are the types that a key of a kind's own may have.
var ownTypes = []reflect.Type{
	reflect.TypeFor[string](), reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[Duration](),
	reflect.TypeFor[Path](), reflect.TypeFor[[]string](), reflect.TypeFor[map[string]string](),
}

// checkOwn refuses own keys that a configuration could not hold.
func (k Kind) checkOwn() error {
	for _, key := range slices.Sorted(maps.Keys(k.Own)) {
		switch {
		case storeType(key) != nil:
			return model.Errorf(model.AlreadyExists, "register", "kind %q: the key %q has a field in StoreConfig; name it in Keys", k.Name, key)
		case !slices.Contains(ownTypes, reflect.TypeOf(k.Own[key])):
			return model.Errorf(model.InvalidInput, "register", "kind %q: the default of %q is a %T; it may be one of %v", k.Name, key, k.Own[key], ownTypes)
		}
	}
	return nil
}

// keys are the keys of the kind's block beside the common ones, its own last.
func (k Kind) keys() []string {
	return append(slices.Clone(k.Keys), slices.Sorted(maps.Keys(k.Own))...)
}

// keyType is the type that a key of a block wants; nil for an unknown key.
func (k Kind) keyType(key string) reflect.Type {
	if zero, ok := k.Own[key]; ok {
		return reflect.TypeOf(zero)
	}
	return storeType(key)
}

// withOwn fills in the kind's own keys: what the block says, else the default.
func (k Kind) withOwn(c StoreConfig, block map[string]any) (StoreConfig, string, error) {
	if len(k.Own) == 0 {
		return c, "", nil
	}
	own := maps.Clone(k.Own)
	maps.Copy(own, c.Own)
	for key := range k.Own {
		v, ok := block[key]
		if !ok {
			continue
		}
		var err error
		if own[key], err = ownValue(reflect.TypeOf(k.Own[key]), v); err != nil {
			return c, key, err
		}
	}
	c.Own = own
	return c, "", nil
}

// ownValue turns a decoded value, whose type has been checked, into the key's type.
func ownValue(t reflect.Type, v any) (any, error) {
	switch v := v.(type) {
	case []any:
		out := make([]string, len(v))
		for i, e := range v {
			out[i] = fmt.Sprint(e)
		}
		return out, nil
	case map[string]any:
		out := map[string]string{}
		for key, e := range v {
			out[key] = fmt.Sprint(e)
		}
		return out, nil
	case string:
		if t == reflect.TypeFor[Duration]() {
			var d Duration
			err := d.UnmarshalText([]byte(v))
			return d, err
		}
	}
	return reflect.ValueOf(v).Convert(t).Interface(), nil
}

// resolveOwn makes the own keys that are paths absolute.
func (s *StoreConfig) resolveOwn(dir string, env func(string) string) {
	for key, v := range s.Own {
		if p, ok := v.(Path); ok {
			s.Own[key] = Path(ExpandPath(string(p), dir, env))
		}
	}
}
