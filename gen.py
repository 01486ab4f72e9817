import sys, pysource_codegen, json
sys.path.insert(0,"/tmp/ps")
for n in map(int, sys.argv[1:]):
    open(f"/tmp/rr10/s/{n}.py","w",encoding="utf-8",errors="surrogatepass").write(pysource_codegen.generate(n,node_limit=400,depth_limit=8))
