// The screen `operator-health`.
export default function Screen() {
  return <h1>operator-health</h1>;
}
