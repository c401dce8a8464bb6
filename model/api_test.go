package model_test

import (
	"flag"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "record what the package exports anew")

// Other programs compile against this package, so its exports are recorded and may only grow. -update
// records additions; a removal must be made in the file by hand, where a reviewer sees it.
func TestExportsOnlyGrow(t *testing.T) {
	const file = "testdata/api.txt"
	recorded, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	was, is := strings.Split(strings.TrimSpace(string(recorded)), "\n"), exports(t)
	for _, line := range was {
		if line != "" && !slices.Contains(is, line) {
			t.Errorf("no longer exported, or another type: %s", line)
		}
	}
	if t.Failed() {
		return
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(is, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			t.Errorf("exported and not recorded (go test ./model -run TestExportsOnlyGrow -update): %s", line)
		}
	}
}

// exports are one line for each name, field and method that other programs can use.
func exports(t *testing.T) (out []string) {
	t.Helper()
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	build.Default.GOROOT = strings.TrimSpace(string(root)) // -trimpath leaves it empty
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	pkg, err := conf.Check("model", fset, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	short := types.RelativeTo(pkg)
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		tn, isType := obj.(*types.TypeName)
		if c, ok := obj.(*types.Const); ok {
			out = append(out, types.ObjectString(obj, short)+" = "+c.Val().ExactString())
			continue
		}
		if !isType {
			out = append(out, types.ObjectString(obj, short))
			continue
		}
		head := "type " + name
		if tn.IsAlias() {
			out = append(out, head+" = "+types.TypeString(types.Unalias(tn.Type()), short))
			continue
		}
		switch u := tn.Type().Underlying().(type) {
		case *types.Struct:
			out = append(out, head+" struct")
			for f := range u.Fields() {
				if f.Exported() {
					out = append(out, "field "+name+"."+f.Name()+" "+types.TypeString(f.Type(), short))
				}
			}
		case *types.Interface: // a further method breaks implementations
			out = append(out, head+" "+types.TypeString(u, short))
		default:
			out = append(out, head+" "+types.TypeString(u, short))
		}
		if types.IsInterface(tn.Type()) {
			continue
		}
		for sel := range types.NewMethodSet(types.NewPointer(tn.Type())).Methods() {
			if sel.Obj().Exported() {
				out = append(out, types.ObjectString(sel.Obj(), short))
			}
		}
	}
	slices.Sort(out)
	return out
}
