package seam_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// pathPackages are the packages whose types represent files and paths.
var pathPackages = []string{"os", "io/fs", "path", "path/filepath", "embed", "syscall", "net/url"}

// harmless are types of these packages that name no file: a mode is a number.
var harmless = []string{"io/fs.FileMode"}

// TestThePackageSpeaksOfNoFiles is the gate of S2 for the whole package: no exported signature may
// mention files, only text.
func TestThePackageSpeaksOfNoFiles(t *testing.T) {
	pkg := load(t, "memdesk/backends/seam")
	checked, found := offenders(pkg)
	if checked < 30 {
		t.Fatalf("only %d exported signatures were looked at", checked)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// TestTheGateCloses gives the gate signatures that it must refuse.
func TestTheGateCloses(t *testing.T) {
	const text = `package p
import ("os"; "io/fs"; "context")
type Good interface { Read(ctx context.Context, key string) (string, error) }
func Open(f *os.File) {}
func Tree() map[string][]fs.FS { return nil }
type Info struct { Entry fs.DirEntry; mode fs.FileInfo }
func (Info) Root() *os.Root { return nil }
type Fn func(chan os.FileInfo)
type Alias = os.PathError
var V fs.File
func Mode() fs.FileMode { return 0 }
func hidden(*os.File) {}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: exports(t, "memdesk/backends/seam")}
	pkg, err := conf.Check("p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, found := offenders(pkg)
	for _, name := range []string{"Open", "Tree", "Info.Entry", "Info.Root", "Fn", "Alias", "V"} {
		if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, name+" ") }) {
			t.Errorf("%s passes the gate; refused are %q", name, found)
		}
	}
	if len(found) != 7 {
		t.Errorf("refused are %q", found)
	}
}

// offenders checks every exported name of a package, including the exported fields and methods of its types.
func offenders(pkg *types.Package) (checked int, found []string) {
	look := func(name string, typ types.Type) {
		checked++
		if bad := pathType(typ, map[types.Type]bool{}); bad != "" {
			found = append(found, name+" speaks of "+bad)
		}
	}
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		tn, isType := obj.(*types.TypeName)
		if !isType {
			look(name, obj.Type())
			continue
		}
		named, ok := tn.Type().(*types.Named)
		if !ok || tn.IsAlias() && named.Obj().Pkg() != pkg {
			look(name, tn.Type())
			continue
		}
		switch u := named.Underlying().(type) {
		case *types.Struct:
			for f := range u.Fields() {
				if f.Exported() {
					look(name+"."+f.Name(), f.Type())
				}
			}
		case *types.Interface:
		default:
			look(name, u)
		}
		set := types.NewMethodSet(types.NewPointer(named))
		if types.IsInterface(named) {
			set = types.NewMethodSet(named)
		}
		for m := range set.Methods() {
			if m.Obj().Exported() {
				look(name+"."+m.Obj().Name(), m.Type())
			}
		}
	}
	return checked, found
}

// pathType names the first type of a path package inside a type. It does not descend into types of
// memdesk's other packages: this package does not expose their content.
func pathType(typ types.Type, seen map[types.Type]bool) string {
	if seen[typ] {
		return ""
	}
	seen[typ] = true
	switch u := types.Unalias(typ).(type) {
	case *types.Named:
		if pkg := u.Obj().Pkg(); pkg != nil {
			name := pkg.Path() + "." + u.Obj().Name()
			if slices.Contains(pathPackages, pkg.Path()) && !slices.Contains(harmless, name) {
				return name
			}
		}
		for arg := range u.TypeArgs().Types() {
			if bad := pathType(arg, seen); bad != "" {
				return bad
			}
		}
	case *types.Signature:
		for _, tuple := range []*types.Tuple{u.Params(), u.Results()} {
			for v := range tuple.Variables() {
				if bad := pathType(v.Type(), seen); bad != "" {
					return bad
				}
			}
		}
	case *types.Struct:
		for f := range u.Fields() {
			if bad := pathType(f.Type(), seen); bad != "" {
				return bad
			}
		}
	case *types.Map:
		if bad := pathType(u.Key(), seen); bad != "" {
			return bad
		}
		return pathType(u.Elem(), seen)
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		return pathType(u.Elem(), seen)
	}
	return ""
}

func load(t *testing.T, path string) *types.Package {
	t.Helper()
	pkg, err := exports(t, path).Import(path)
	if err != nil {
		t.Fatal(err)
	}
	return pkg
}

// exports imports from the compiler's export data of a package and its dependencies.
func exports(t *testing.T, path string) types.Importer {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-tags", "sqlite_fts5", "-export", "-deps", "-json=ImportPath,Export", path)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := map[string]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ ImportPath, Export string }
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
}
