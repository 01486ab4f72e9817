// The differing lines of two texts: Myers' greedy algorithm (1986), abandoned if too much differs.
depyf.differ = (() => {
  const MOST = 3000;

  // Returns steps [kind, left, right]: "=" a line of both, "-" a line only on the left, "+" a line only on the right.
  function diff(left, right) {
    let begin = 0, endLeft = left.length, endRight = right.length;
    while (begin < endLeft && begin < endRight && left[begin] === right[begin]) begin++;
    while (endLeft > begin && endRight > begin && left[endLeft - 1] === right[endRight - 1]) { endLeft--; endRight--; }
    const steps = [];
    for (let index = 0; index < begin; index++) steps.push(["=", index, index]);
    steps.push(...middle(left.slice(begin, endLeft), right.slice(begin, endRight)).map(([kind, one, other]) => [kind, one + begin, other + begin]));
    for (let index = 0; endLeft + index < left.length; index++) steps.push(["=", endLeft + index, endRight + index]);
    return steps;
  }

  function middle(left, right) {
    const n = left.length, m = right.length, trace = [];
    let reach = new Map([[1, 0]]);
    for (let d = 0; d <= Math.min(n + m, MOST); d++) {
      trace.push(new Map(reach));
      for (let k = -d; k <= d; k += 2) {
        const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
        let x = down ? reach.get(k + 1) : reach.get(k - 1) + 1;
        let y = x - k;
        while (x < n && y < m && left[x] === right[y]) { x++; y++; }
        reach.set(k, x);
        if (x >= n && y >= m) return path(trace, n, m);
      }
    }
    return [...left.map((_, index) => ["-", index, 0]), ...right.map((_, index) => ["+", n, index])];
  }

  function path(trace, n, m) {
    const steps = [];
    let x = n, y = m;
    for (let d = trace.length - 1; d >= 0; d--) {
      const reach = trace[d], k = x - y;
      const down = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1));
      const before = down ? k + 1 : k - 1;
      const fromX = d === 0 ? 0 : reach.get(before), fromY = d === 0 ? 0 : fromX - before;
      while (x > fromX && y > fromY) { x--; y--; steps.push(["=", x, y]); }
      if (d > 0) {
        if (down) steps.push(["+", x, --y]);
        else steps.push(["-", --x, y]);
      }
    }
    return steps.reverse();
  }

  return { diff };
})();
