// The screen `operator-live`.
export default function Screen() {
  return <h1>operator-live</h1>;
}
