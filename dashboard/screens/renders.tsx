// The screen `renders`.
export default function Screen() {
  return <h1>renders</h1>;
}
